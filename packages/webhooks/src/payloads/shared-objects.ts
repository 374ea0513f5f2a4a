import {
  avatarPath,
  type DescribedLabel,
  type Project,
  type ProjectFacts,
  signatureTime,
  sshCloneUrl,
  titleOf,
  type User,
  visibilities,
} from '@penstock/core'

/** The objects that payloads of several kinds contain. */
export type Json = Record<string, unknown>

/** The text in place of an e-mail address that is not public. */
export const REDACTED = '[REDACTED]'
export const NO_SHA = '0'.repeat(40)

/** Returns a time as most payloads show it: `2026-02-03 09:10:11 UTC`. */
export const hookTime = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`
export const hookTimeOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : hookTime(ms))

/** Matches images with a path instead of an address. The text of an image is bounded, so that a search stays fast. */
const localImage = /(!\[[^\]\n]{0,255}\]\()(\/(?!\/)[^)\s]{1,2048})(?=[)\s])/g

/** Returns a text with full addresses of its images, so that other programs can show them. Uploads belong to the project. */
export const withImageUrls = (text: string, fullPath: string, externalUrl: string): string =>
  text.replaceAll(localImage, (_, before: string, path: string) =>
    path.startsWith('/uploads/') ? `${before}${externalUrl}/${fullPath}${path}` : `${before}${externalUrl}${path}`,
  )

const avatarUrl = (path: string | undefined, externalUrl: string): string | null =>
  path === undefined ? null : `${externalUrl}/${path}`

/** Returns the user who caused an event. For events of the service itself, the user is empty. */
export const userJson = (user: User | undefined, externalUrl: string): Json => ({
  id: user?.id ?? null,
  name: user?.name ?? '',
  username: user?.username ?? '',
  avatar_url: user === undefined ? null : userAvatar(user, externalUrl),
  email: user?.publicEmail || REDACTED,
})

export const userAvatar = (user: User, externalUrl: string): string | null =>
  avatarUrl(avatarPath('user', user), externalUrl)

/** The codes of visibility: 0, 10 and 20. */
const visibilityLevel = ({ visibility }: Project): number => visibilities.indexOf(visibility) * 10

const urlsOf = ({ fullPath }: Project, externalUrl: string) => ({
  web: `${externalUrl}/${fullPath}`,
  http: `${externalUrl}/${fullPath}.git`,
  ssh: sshCloneUrl(externalUrl, `${fullPath}.git`),
})

/** Returns the project without the deprecated members, as payloads of pipelines and jobs have it. */
export function briefProjectJson({ project, namespace }: ProjectFacts, externalUrl: string): Json {
  const { web, http, ssh } = urlsOf(project, externalUrl)
  return {
    id: project.id,
    name: project.name,
    description: project.description ?? null,
    web_url: web,
    avatar_url: avatarUrl(avatarPath('project', project), externalUrl),
    git_ssh_url: ssh,
    git_http_url: http,
    namespace,
    visibility_level: visibilityLevel(project),
    path_with_namespace: project.fullPath,
    default_branch: project.defaultBranch ?? null,
    ci_config_path: project.settings.ciConfigPath ?? null,
  }
}

export function projectJson(facts: ProjectFacts, externalUrl: string): Json {
  const { web, http, ssh } = urlsOf(facts.project, externalUrl)
  return { ...briefProjectJson(facts, externalUrl), homepage: web, url: ssh, ssh_url: ssh, http_url: http }
}

/** Returns the repository as payloads of issues and notes have it. */
export function repositoryJson({ project }: ProjectFacts, externalUrl: string): Json {
  const { web, ssh } = urlsOf(project, externalUrl)
  return { name: project.name, url: ssh, description: project.description ?? null, homepage: web }
}

/** Returns the repository as payloads of pushes and jobs have it. */
export function clonedRepositoryJson(facts: ProjectFacts, externalUrl: string): Json {
  const { http, ssh } = urlsOf(facts.project, externalUrl)
  return {
    ...repositoryJson(facts, externalUrl),
    git_http_url: http,
    git_ssh_url: ssh,
    visibility_level: visibilityLevel(facts.project),
  }
}

export const labelJson = (label: DescribedLabel): Json => ({
  id: label.id,
  title: label.name,
  color: label.color,
  project_id: label.projectId ?? null,
  created_at: hookTime(label.createdAtMs),
  updated_at: hookTime(label.createdAtMs),
  template: false,
  description: label.description ?? null,
  type: label.groupId === undefined ? 'ProjectLabel' : 'GroupLabel',
  group_id: label.groupId ?? null,
})

/** A commit as the repository has it. */
export interface HookCommit {
  readonly oid: string
  readonly message: string
  readonly author: Parameters<typeof signatureTime>[0]
  readonly committer: Parameters<typeof signatureTime>[0]
}

export const commitUrl = ({ fullPath }: Project, sha: string, externalUrl: string): string =>
  `${externalUrl}/${fullPath}/-/commit/${sha}`

export const commitJson = ({ oid, message, author, committer }: HookCommit, project: Project, externalUrl: string) => ({
  id: oid,
  message,
  title: titleOf(message),
  // Without milliseconds, as Git has none.
  timestamp: signatureTime(committer).replace('.000', ''),
  url: commitUrl(project, oid, externalUrl),
  author: { name: author.name, email: author.email },
})
