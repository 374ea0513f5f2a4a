import { cachedCommitReader, rangeOf } from './commit-range.ts'
import type { GitRepository } from './git-repository.ts'
import { type HistoryCommit, history } from './history.ts'

/** The commits that a push adds to a branch. */
export interface PushedCommits {
  /** The newest `MAX_LISTED` of them, the oldest first. */
  readonly commits: readonly HistoryCommit[]
  /** The number of all commits of the push, counted up to `MAX_COUNTED`. */
  readonly total: number
}

export const noCommits: PushedCommits = { commits: [], total: 0 }

const MAX_LISTED = 20
export const MAX_COUNTED = 10_001

/**
 * Returns the commits of `after` that `before` does not have. Commits that a forced push removes are not included.
 *
 * @param before the former tip; for a new branch, that of the default branch; `undefined` if there is neither
 */
export async function pushedCommits(
  repository: GitRepository,
  { before, after }: { readonly before: string | undefined; readonly after: string },
): Promise<PushedCommits> {
  if (before !== undefined) {
    const budget = { commits: MAX_COUNTED, steps: 2 * MAX_COUNTED }
    const range = await rangeOf(cachedCommitReader(repository, budget), { headSha: after, startSha: before })
    const oids = range?.commits.map(({ oid }) => oid)
    if (oids !== undefined) return { commits: await listed(repository, oids), total: oids.length }
  }
  const oids: string[] = []
  for await (const { oid } of history(repository, [after])) {
    oids.push(oid)
    if (oids.length === MAX_COUNTED) break
  }
  return { commits: await listed(repository, oids), total: oids.length }
}

/** @param oids the newest first */
const listed = (repository: GitRepository, oids: readonly string[]): Promise<HistoryCommit[]> =>
  Promise.all(
    oids
      .slice(0, MAX_LISTED)
      .toReversed()
      .map(async (oid) => ({ oid, ...(await repository.commit(oid)) })),
  )
