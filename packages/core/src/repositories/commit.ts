import type { Project } from '../projects/project.ts'
import { type CommitObject, offsetText, type Signature } from './git-object.ts'
import type { HistoryCommit, HistoryHeader } from './history.ts'

/** A commit of a project's repository, but for its message: what lists hold that do not show it. */
export interface ListedCommit extends Pick<CommitObject, 'author' | 'committer'> {
  readonly sha: string
  readonly parentShas: readonly string[]
  readonly project: Pick<Project, 'id' | 'fullPath'>
}

/** @see spec/interface-2.md 2.7 */
export interface Commit extends ListedCommit {
  readonly message: string
  /** First line of the message. */
  readonly title: string
  /** `Signed-off-by: …` at the end of the message; `undefined` where nobody asked. */
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

/** `2026-02-03T06:05:06.000+02:00`: the time at the place where it was made. @see spec/rest-part2-details.md 1.4 */
export function signatureTime({ atSeconds, offsetMinutes }: Signature): string {
  const local = new Date((atSeconds + offsetMinutes * 60) * 1_000).toISOString().slice(0, -1)
  return `${local}${offsetText(offsetMinutes, ':')}`
}

/** The first line that says something. */
export const titleOf = (message: string): string => message.trimStart().split('\n', 1)[0]!.trim()

/** The last paragraph, when it is not the first and each of its lines is a trailer or goes on with one. */
export function trailersOf(message: string): Trailer[] {
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
