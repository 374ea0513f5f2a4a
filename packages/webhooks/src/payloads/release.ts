import type { ProjectFacts, ReleaseFacts } from '@penstock/core'
import { hookTime, type Json, projectJson } from './shared-objects.ts'

export interface ReleaseEventFacts extends ReleaseFacts {
  readonly facts: ProjectFacts
  readonly action: 'create' | 'update' | 'delete'
}

const sourceFormats = ['zip', 'tar.gz', 'tar.bz2', 'tar'] as const

/** Returns the payload. The commit is added when it is sent. */
export function releasePayload({ facts, release, links, action }: ReleaseEventFacts, externalUrl: string): Json {
  const { project } = facts
  const { tag } = release
  const web = `${externalUrl}/${project.fullPath}`
  const archive = `${web}/-/archive/${encodeURIComponent(tag)}/${project.path}`
  const sources = sourceFormats.map((format) => ({
    format,
    url: `${archive}-${encodeURIComponent(tag.replaceAll('/', '-'))}.${format}`,
  }))
  return {
    id: release.id,
    created_at: hookTime(release.createdAtMs),
    description: release.description ?? null,
    name: release.name ?? tag,
    released_at: hookTime(release.releasedAtMs),
    tag,
    object_kind: 'release',
    project: projectJson(facts, externalUrl),
    url: `${web}/-/releases/${encodeURIComponent(tag)}`,
    action,
    assets: {
      count: links.length + sources.length,
      links: links.map(({ id, linkType, name, url }) => ({ id, link_type: linkType, name, url })),
      sources,
    },
    commit: { id: release.sha },
  }
}
