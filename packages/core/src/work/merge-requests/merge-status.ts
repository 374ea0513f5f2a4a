import { approvalsLeft, type MergeRequest } from './merge-request.ts'

export const mergeStatuses = ['unchecked', 'can_be_merged', 'cannot_be_merged'] as const
/** Whether the branches can be merged. */
export type MergeStatus = (typeof mergeStatuses)[number]

export const detailedMergeStatuses = [
  'not_open',
  'draft_status',
  'commits_status',
  'not_approved',
  'discussions_not_resolved',
  'ci_still_running',
  'ci_must_pass',
  'unchecked',
  'conflict',
  'need_rebase',
  'mergeable',
] as const
/** The first reason that blocks a merge, or that there is none. */
export type DetailedMergeStatus = (typeof detailedMergeStatuses)[number]

type Mergeable = Pick<MergeRequest, 'state' | 'isDraft' | 'approvals' | 'approvalsRequired' | 'mergeConditions'>

/** Returns what blocks a merge, apart from the pipeline and the content of the branches. */
function reviewBlocker(mergeRequest: Mergeable): DetailedMergeStatus | undefined {
  if (mergeRequest.state !== 'opened') return 'not_open'
  if (mergeRequest.isDraft) return 'draft_status'
  if (approvalsLeft(mergeRequest) > 0) return 'not_approved'
  return mergeRequest.mergeConditions.hasBlockingDiscussions ? 'discussions_not_resolved' : undefined
}

/** Returns what blocks a merge, apart from the content of the branches, which the merge itself finds out. */
export const mergeBlocker = (mergeRequest: Mergeable): DetailedMergeStatus | undefined =>
  reviewBlocker(mergeRequest) ?? mergeRequest.mergeConditions.pipelineBlocker

/** Returns whether the source branch has to be rebased before the project's merge method can be applied. */
export const needsRebase = ({
  mergeConditions: { branchCheck, method },
}: Pick<MergeRequest, 'mergeConditions'>): boolean => method !== 'merge' && branchCheck?.isBehind === true

function branchBlocker({ mergeConditions }: Mergeable): DetailedMergeStatus | undefined {
  const { branchCheck, hasBranches } = mergeConditions
  if (!hasBranches || branchCheck?.outcome === 'no_commits') return 'commits_status'
  if (branchCheck === undefined || branchCheck.outcome === 'too_large') return 'unchecked'
  if (branchCheck.outcome === 'conflict') return 'conflict'
  return needsRebase({ mergeConditions }) ? 'need_rebase' : undefined
}

/** Returns the first reason that blocks a merge. As on GitLab, the pipeline is named only if nothing else blocks it. */
export const detailedMergeStatus = (mergeRequest: Mergeable): DetailedMergeStatus =>
  reviewBlocker(mergeRequest) ??
  branchBlocker(mergeRequest) ??
  mergeRequest.mergeConditions.pipelineBlocker ??
  'mergeable'

/** Returns whether the branches can be merged. A required rebase is no conflict. */
export function mergeStatus(mergeRequest: Mergeable): MergeStatus {
  if (mergeRequest.state === 'merged') return 'can_be_merged'
  const blocker = branchBlocker(mergeRequest)
  if (blocker === 'unchecked') return 'unchecked'
  return blocker === 'conflict' || blocker === 'commits_status' ? 'cannot_be_merged' : 'can_be_merged'
}

/** Returns whether the branches were checked and have conflicts. */
export const hasConflicts = (mergeRequest: Mergeable): boolean =>
  mergeRequest.state !== 'merged' && mergeRequest.mergeConditions.branchCheck?.outcome === 'conflict'
