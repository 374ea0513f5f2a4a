import type { PipelineRecord } from '@penstock/forges'
import { storedInteger } from './stored-values.ts'

/** The names of a project. Those of two projects are compared by the first one that both have. */
export interface ProjectNames {
  readonly id: number | undefined
  readonly path: string | undefined
  readonly webUrl: string | undefined
}

/** The names of the upstream pipeline's project, as the record has them. */
export interface UpstreamNames {
  readonly upstreamProject: ProjectNames
  readonly hookProject: ProjectNames
  readonly source: string | undefined
}

export const toUpstreamNames = ({ upstream, project, source }: PipelineRecord): UpstreamNames => ({
  upstreamProject: {
    id: storedInteger(upstream?.projectId),
    path: upstream?.projectPath,
    webUrl: upstream?.projectWebUrl,
  },
  hookProject: { id: storedInteger(project.id), path: project.path, webUrl: project.webUrl },
  source,
})

/**
 * Returns whether the upstream pipeline belongs to another project. It belongs to the same project if it has the names
 * of the record's project, or of the project in which the record is stored.
 */
export const isUpstreamElsewhere = (
  { upstreamProject, hookProject, source }: UpstreamNames,
  own: ProjectNames,
): boolean =>
  areDifferent(upstreamProject, hookProject) !== false && (areDifferent(upstreamProject, own) ?? source === 'pipeline')

const areDifferent = (one: ProjectNames, other: ProjectNames): boolean | undefined =>
  differ(one.id, other.id) ?? differ(one.path, other.path) ?? differ(one.webUrl, other.webUrl)

const differ = <Value>(one: Value | undefined, other: Value | undefined): boolean | undefined =>
  one === undefined || other === undefined ? undefined : one !== other
