import { type ProjectFacts, sshCloneUrl, type User } from '@penstock/core'
import { type Json, projectJson, userJson } from './shared-objects.ts'

export interface WikiPageFacts {
  readonly facts: ProjectFacts
  readonly user: User | undefined
  readonly page: { readonly slug: string; readonly title: string; readonly format: string; readonly version: string }
  readonly action: 'create' | 'update' | 'delete'
}

/** Returns the payload. The content of the page and the message of the commit are added when it is sent. */
export function wikiPagePayload({ facts, user, page, action }: WikiPageFacts, externalUrl: string): Json {
  const { project } = facts
  const web = `${externalUrl}/${project.fullPath}`
  const url = `${web}/-/wikis/${page.slug.split('/').map(encodeURIComponent).join('/')}`
  return {
    object_kind: 'wiki_page',
    user: userJson(user, externalUrl),
    project: projectJson(facts, externalUrl),
    wiki: {
      web_url: `${web}/-/wikis/home`,
      git_ssh_url: sshCloneUrl(externalUrl, `${project.fullPath}.wiki.git`),
      git_http_url: `${web}.wiki.git`,
      path_with_namespace: `${project.fullPath}.wiki`,
      default_branch: project.defaultBranch ?? 'main',
    },
    object_attributes: {
      slug: page.slug,
      title: page.title,
      format: page.format,
      content: '',
      message: '',
      version_id: page.version,
      url,
      action,
      diff_url: `${url}/diff?version_id=${page.version}`,
    },
  }
}
