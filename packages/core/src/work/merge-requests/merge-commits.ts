import { signatureAt } from '../../base/git/git-object.ts'
import { findReference } from '../../base/git/git-reference.ts'
import type { WritableRepository } from '../../base/git/git-repository.ts'
import { writeMergedTree } from '../../base/git/merge-trees.ts'
import { DomainError } from '../../base/kit/domain-error.ts'
import type { ProjectSettings } from '../../base/model/project-settings.ts'
import type { Committer } from '../../code/repositories/commit-to-branch.ts'
import type { DescribedMergeRequest } from './merge-request.ts'
import { tryMerge } from './merge-trial.ts'

interface MergePlan {
  readonly mergeRequest: Pick<DescribedMergeRequest, 'sourceBranch' | 'targetBranch'>
  readonly method: ProjectSettings['mergeMethod']
  readonly committer: Committer
  readonly nowMs: number
  /** The head of the source branch that the caller has seen; any if it is missing. */
  readonly expectedSha: string | undefined
  readonly mergeMessage: string
  /** `undefined` to keep the commits of the source branch. */
  readonly squashMessage: string | undefined
}

/** The commits of a merge, before the branch is moved. */
interface MergedBranches {
  readonly source: string
  readonly target: string
  /** The new tip of the target branch. */
  readonly after: string
  /** `undefined` if the branch was only moved forward. */
  readonly mergeCommit: string | undefined
  readonly squashCommit: string | undefined
}

export const notMergeable = () => new DomainError({ code: 'impossible', message: 'Branch cannot be merged' })

/**
 * Writes the commits that merge the source branch into the target branch. Moves no branch.
 *
 * @throws DomainError `conflict` if the source branch has another head than expected; `impossible` if the branches have
 *   conflicts, there is nothing to merge, or the method needs a rebase first
 */
export async function writeMergeCommits(
  repository: WritableRepository,
  { mergeRequest, method, committer, nowMs, expectedSha, mergeMessage, squashMessage }: MergePlan,
): Promise<MergedBranches> {
  const source = await findReference(repository, 'heads', mergeRequest.sourceBranch)
  const target = await findReference(repository, 'heads', mergeRequest.targetBranch)
  if (source === undefined || target === undefined) throw notMergeable()
  if (expectedSha !== undefined && expectedSha !== source) {
    throw new DomainError({ code: 'conflict', reason: `SHA does not match HEAD of source branch: ${source}` })
  }
  const trial = await tryMerge(repository, { source, target })
  if (trial.outcome !== 'merged') throw notMergeable()
  const { range, isBehind, ours, result } = trial
  if (method !== 'merge' && isBehind) throw notMergeable()

  const signature = signatureAt({ name: committer.name, email: committer.email }, nowMs)
  const write = (tree: string, parents: string[], message: string) =>
    repository.writeCommit({ tree, parents, message, author: signature, committer: signature })
  const squashCommit =
    squashMessage === undefined ? undefined : await write(range.head.tree, [range.base.oid], squashMessage)
  const head = squashCommit ?? source
  if (method === 'ff') return { source, target, after: head, mergeCommit: undefined, squashCommit }

  if (result === 'conflict' || result === 'too_large') throw notMergeable()
  const tree = result === 'unchanged' ? ours : await writeMergedTree(repository, result)
  const mergeCommit = await write(tree, [target, head], mergeMessage)
  return { source, target, after: mergeCommit, mergeCommit, squashCommit }
}
