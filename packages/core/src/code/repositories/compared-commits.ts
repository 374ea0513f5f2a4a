import { refused } from '../../base/git/commit-actions.ts'
import type { GitRepository } from '../../base/git/git-repository.ts'
import type { Project } from '../../base/model/project.ts'
import { type Commit, commitOfProject } from './commit.ts'

const MAX_COMMITS = 5_000
/** A longer message is cut. If all messages together are longer than `MAX_TEXT_LENGTH`, the comparison is refused. */
const MAX_MESSAGE_LENGTH = 10_000
const MAX_TEXT_LENGTH = 8 * 1024 * 1024

/** Reads the commits of a comparison. @throws DomainError `refused` if there are too many, or their messages are too long */
export async function comparedCommits(
  project: Project,
  git: GitRepository,
  headers: readonly { readonly oid: string }[],
): Promise<Commit[]> {
  if (headers.length > MAX_COMMITS) throw refused('There are too many commits to compare')
  const commits: Commit[] = []
  let left = MAX_TEXT_LENGTH
  for (const { oid } of headers) {
    const commit = await git.commit(oid)
    const message = commit.message.slice(0, MAX_MESSAGE_LENGTH)
    left -= message.length
    if (left < 0) throw refused('The messages of the commits are too long to compare')
    commits.push(commitOfProject(project, { oid, ...commit, message }))
  }
  return commits
}
