import { isUnavailable } from '@penstock/db'
import { z } from 'zod'
import type { GitRepository } from '../../base/git/git-repository.ts'
import type { MergeLimits } from '../../base/git/merge-trees.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { OperationContext } from '../../base/operations/context.ts'
import { unscopedBatchQuery } from '../../base/operations/operation.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import { getProject } from '../../identity/projects/project-store.ts'
import { type CheckedBranches, storeBranchChecks } from './merge-check-store.ts'
import type { BranchCheck, MergeRequest } from './merge-request.ts'
import { tryMerge } from './merge-trial.ts'

/** Lower than the limits of a merge, because everyone who may read a merge request can cause a check. */
const LIMITS: MergeLimits = { files: 200, bytes: 8 * 1024 * 1024, directories: 5_000 }
/** The limit of merge requests that one call checks. */
const MAX_CHECKED = 10

/**
 * Tries to merge the branches of open merge requests that have moved since their last check, at most ten of them. Stores
 * the results, which hold until a branch moves, and returns the merge requests with them. Reads the repository, so never
 * call it in a transaction.
 */
export async function withBranchChecks<Item extends MergeRequest>(
  context: ReadContext & Pick<OperationContext, 'core'>,
  mergeRequests: readonly Item[],
): Promise<readonly Item[]> {
  const due = mergeRequests.filter(isUnchecked).slice(0, MAX_CHECKED)
  const checks: CheckedBranches[] = []
  const repositories = new Map<number, GitRepository | undefined>()
  for (const { id, projectId, sha, targetSha } of due) {
    if (!repositories.has(projectId)) repositories.set(projectId, await repositoryOf(context, projectId))
    const repository = repositories.get(projectId)
    if (repository === undefined || sha === undefined || targetSha === undefined) continue
    const check = await checkBranches(repository, { source: sha, target: targetSha })
    checks.push({ mergeRequestId: id, sourceSha: sha, targetSha, ...check })
  }
  try {
    await storeBranchChecks(context.core, checks)
  } catch (error) {
    // The next read checks them again.
    if (!isUnavailable(error)) throw error
  }
  const checkOf = new Map(checks.map(({ mergeRequestId, ...check }) => [mergeRequestId, check]))
  return mergeRequests.map((mergeRequest) => {
    const branchCheck = checkOf.get(mergeRequest.id)
    if (branchCheck === undefined) return mergeRequest
    return { ...mergeRequest, mergeConditions: { ...mergeRequest.mergeConditions, branchCheck } }
  })
}

const isUnchecked = ({ state, mergeConditions: { hasBranches, branchCheck } }: MergeRequest): boolean =>
  state === 'opened' && hasBranches && branchCheck === undefined

async function repositoryOf(context: ReadContext & Pick<OperationContext, 'core'>, projectId: number) {
  const repository = await findProjectRepository(context.core, await getProject(context, projectId))
  return repository?.git
}

async function checkBranches(
  repository: GitRepository,
  branches: { readonly source: string; readonly target: string },
): Promise<BranchCheck> {
  const trial = await tryMerge(repository, branches, LIMITS)
  if (trial.outcome === 'unrelated') return { outcome: 'conflict', isBehind: true }
  if (trial.outcome !== 'merged') return { outcome: trial.outcome, isBehind: true }
  const { result, isBehind } = trial
  return { outcome: result === 'conflict' || result === 'too_large' ? result : 'clean', isBehind }
}

/**
 * Returns each merge request with the check of its branches. A single one is checked if its branches have moved; lists show
 * the stored checks.
 */
export const checkedMergeRequests = unscopedBatchQuery(
  { name: 'checkedMergeRequests', input: z.object({}) },
  async (context, mergeRequests: readonly MergeRequest[]) =>
    mergeRequests.length === 1 ? withBranchChecks(context, mergeRequests) : mergeRequests,
)
