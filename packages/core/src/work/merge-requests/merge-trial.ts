import { type CommitRange, cachedCommitReader, rangeOf } from '../../base/git/commit-range.ts'
import type { GitRepository } from '../../base/git/git-repository.ts'
import { type MergeLimits, type MergeResult, mergeTrees } from '../../base/git/merge-trees.ts'

/** The limits of the search for the newest commit that both branches have. */
const RANGE_BUDGET = { commits: 10_000, steps: 50_000 }

/** The outcome of merging the heads of a source and a target branch in memory. */
type MergeTrial =
  /** There is nothing to merge, the branches have no common history, or the search for it exceeds its limits. */
  | { readonly outcome: 'no_commits' | 'unrelated' | 'too_large' }
  | {
      readonly outcome: 'merged'
      readonly range: CommitRange & { readonly base: NonNullable<CommitRange['base']> }
      /** Whether the target branch has commits that the source branch does not have. */
      readonly isBehind: boolean
      /** The tree of the target branch. */
      readonly ours: string
      readonly result: MergeResult
    }

/** Merges the trees of two branches in memory. Every merge and every check of a merge request begins with this. */
export async function tryMerge(
  repository: GitRepository,
  { source, target }: { readonly source: string; readonly target: string },
  limits?: MergeLimits,
): Promise<MergeTrial> {
  const range = await rangeOf(cachedCommitReader(repository, { ...RANGE_BUDGET }), {
    headSha: source,
    startSha: target,
  })
  if (range === undefined) return { outcome: 'too_large' }
  const { base, head, commits } = range
  if (commits.length === 0) return { outcome: 'no_commits' }
  if (base === undefined) return { outcome: 'unrelated' }
  const ours = (await repository.commit(target)).tree
  const result = await mergeTrees(repository, { base: base.tree, ours, theirs: head.tree }, limits)
  return { outcome: 'merged', range: { ...range, base }, isBehind: base.oid !== target, ours, result }
}
