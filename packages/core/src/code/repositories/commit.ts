import { type CommitObject, offsetText, type Signature } from '../../base/git/git-object.ts'
import type { HistoryCommit, HistoryHeader } from '../../base/git/history.ts'
import type { Project } from '../../base/model/project.ts'

/** A commit of a project's repository without its message, for lists that do not show it. */
export interface ListedCommit extends Pick<CommitObject, 'author' | 'committer'> {
  readonly sha: string
  readonly parentShas: readonly string[]
  readonly project: Pick<Project, 'id' | 'fullPath'>
}

export interface Commit extends ListedCommit {
  readonly message: string
  /** The first line of the message. */
  readonly title: string
  /** Lines such as `Signed-off-by: …` at the end of the message; `undefined` if they were not requested. */
  readonly trailers: readonly Trailer[] | undefined
}

export interface Trailer {
  readonly key: string
  readonly value: string
}

export const listedCommitOf = (
  project: Pick<Project, 'id' | 'fullPath'>,
  { oid, parents, author, committer }: HistoryHeader,
): ListedCommit => ({
  sha: oid,
  parentShas: parents,
  project: { id: project.id, fullPath: project.fullPath },
  author,
  committer,
})

export const commitOfProject = (
  project: Pick<Project, 'id' | 'fullPath'>,
  commit: HistoryCommit,
  { withTrailers = true } = {},
): Commit => ({
  ...listedCommitOf(project, commit),
  message: commit.message,
  title: titleOf(commit.message),
  trailers: withTrailers ? trailersOf(commit.message) : undefined,
})

/** Returns the time with the committer's offset, as GitLab shows it: `2026-02-03T06:05:06.000+02:00`. */
export function signatureTime({ atSeconds, offsetMinutes }: Signature): string {
  const local = new Date((atSeconds + offsetMinutes * 60) * 1_000).toISOString().slice(0, -1)
  return `${local}${offsetText(offsetMinutes, ':')}`
}

/** Returns the first line that is not blank. */
export const titleOf = (message: string): string => message.trimStart().split('\n', 1)[0]!.trim()

/**
 * Returns the trailers in the last paragraph, if it is not the only one and contains only trailers and their
 * continuation lines.
 */
function trailersOf(message: string): Trailer[] {
  const paragraphs = message.trim().split(/\n[ \t]*\n/)
  if (paragraphs.length < 2) return []
  const trailers: Trailer[] = []
  for (const line of paragraphs.at(-1)!.split('\n')) {
    const match = /^([A-Za-z0-9][A-Za-z0-9-]*)[ \t]*:[ \t]*(.*)$/s.exec(line)
    const last = trailers.at(-1)
    if (match !== null) trailers.push({ key: match[1]!, value: match[2]!.trim() })
    else if (/^[ \t]/.test(line) && last) trailers.splice(-1, 1, { ...last, value: `${last.value} ${line.trim()}` })
    else return []
  }
  return trailers
}
