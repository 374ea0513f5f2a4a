import { type Fields, id, section, text } from '../body/fields.ts'
import { lastSegment, projectUrl, repositoryPath, url } from '../body/url.ts'
import { userName } from '../body/user-name.ts'
import type { ProjectRecord, UserRecord } from '../record/pipeline-record.ts'
import { toUser } from '../record/run-origin.ts'

/** Reads a repository. What it lacks is read from the web URL of a run or a job in it. */
export function readRepository(repository: Fields | undefined, runUrl: string | undefined): ProjectRecord {
  const webUrl = projectUrl(repository && url(repository, 'html_url')) ?? repositoryUrlIn(runUrl)
  const path = (repository && text(repository, 'full_name')) ?? repositoryPath(webUrl)
  return {
    id: repository && id(repository, 'id'),
    name: (repository && text(repository, 'name')) ?? (path && lastSegment(path)),
    webUrl,
    path,
  }
}

/**
 * Reads a repository of Gitea. Its web URL is read from that of the run or the job, which always has the configured address of the
 * server. That of the repository has the address of the request that caused the hook: a runner or a push may use another one.
 */
export function readGiteaRepository(repository: Fields | undefined, runUrl: string | undefined): ProjectRecord {
  const project = readRepository(repository, runUrl)
  return { ...project, webUrl: repositoryUrlIn(runUrl) ?? project.webUrl }
}

/** Returns the URL of the repository of a run or a job, such as `https://host/owner/name/actions/runs/7/job/9`. */
function repositoryUrlIn(runUrl: string | undefined): string | undefined {
  const end = runUrl?.lastIndexOf('/actions/runs/') ?? -1
  return end > 0 ? runUrl?.slice(0, end) : undefined
}

/** Reads the first of several users. E-mail addresses are not read. */
export function readUser(owner: Fields, keys: readonly string[]): UserRecord | undefined {
  for (const key of keys) {
    const user = section(owner, key)
    const record = user && toUser(id(user, 'id'), userName(user, 'login') ?? userName(user, 'username'))
    if (record !== undefined) return record
  }
  return undefined
}
