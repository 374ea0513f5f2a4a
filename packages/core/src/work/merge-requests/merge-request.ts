import type { ProjectSettings } from '../../base/model/project-settings.ts'
import type { Actor, User } from '../../base/model/user.ts'
import type { DescribedIssuable, Issuable, ListedIssuable } from '../issues/issuable.ts'

export const mergeRequestStates = ['opened', 'closed', 'locked', 'merged'] as const
export type MergeRequestState = (typeof mergeRequestStates)[number]

export const reviewStates = [
  'unreviewed',
  'review_started',
  'reviewed',
  'requested_changes',
  'approved',
  'unapproved',
] as const
export type ReviewState = (typeof reviewStates)[number]

export interface Reviewer extends User {
  readonly reviewState: ReviewState
  /** The time at which the user became a reviewer; `undefined` if it was not recorded. */
  readonly requestedAtMs: number | undefined
  /** The time of the last change of the state. */
  readonly reviewedAtMs: number | undefined
}

interface Approval {
  readonly user: User
  readonly approvedAtMs: number
}

/** The limit of approvals of one merge request. */
export const MAX_APPROVALS = 100

/** The result of trying to merge the heads of both branches; `too_large` beyond the limits of a check. */
export type BranchCheckOutcome = 'clean' | 'conflict' | 'no_commits' | 'too_large'

export interface BranchCheck {
  readonly outcome: BranchCheckOutcome
  /** Whether the target branch has commits that the source branch does not have. */
  readonly isBehind: boolean
}

/** The facts, apart from the merge request itself, that decide whether it can be merged. */
export interface MergeConditions {
  readonly method: ProjectSettings['mergeMethod']
  /** The project requires resolved discussions, and there are unresolved ones. */
  readonly hasBlockingDiscussions: boolean
  /** Why the pipeline blocks a merge, if the project requires that it succeeds. */
  readonly pipelineBlocker: 'ci_still_running' | 'ci_must_pass' | undefined
  /** The check of the present heads of the branches; `undefined` if they were not checked. */
  readonly branchCheck: BranchCheck | undefined
  /** Whether both branches exist. */
  readonly hasBranches: boolean
}

export interface MergeRequest extends Issuable {
  readonly state: MergeRequestState
  readonly sourceBranch: string
  readonly targetBranch: string
  /**
   * The head commit of the source branch: the present one while the merge request is open, later the last one from that time.
   * `undefined` if the branch of an open merge request does not exist.
   */
  readonly sha: string | undefined
  readonly sourceBranchExists: boolean
  /** The present head commit of the target branch; `undefined` if the branch does not exist. */
  readonly targetSha: string | undefined
  /** True if the title has a draft prefix. */
  readonly isDraft: boolean
  /** Ordered by id. */
  readonly reviewers: readonly Reviewer[]
  /** The oldest first. */
  readonly approvals: readonly Approval[]
  /** The number of approvals without which it cannot be merged; a setting of the project. */
  readonly approvalsRequired: number
  /** Squash the commits when merging. */
  readonly isSquashed: boolean
  /** Remove the source branch when merging; `undefined` if this was not set. */
  readonly removesSourceBranch: boolean | undefined
  readonly mergedBy: User | undefined
  /** The user who asked to merge it when its pipeline succeeds; `undefined` if there is no such request. */
  readonly autoMergeUser: User | undefined
  readonly mergedAtMs: number | undefined
  /** `undefined` also if the target branch was only moved forward. */
  readonly mergeCommitSha: string | undefined
  readonly squashCommitSha: string | undefined
  readonly mergeConditions: MergeConditions
}

export type DescribedMergeRequest = MergeRequest & DescribedIssuable
/** A merge request in a list. */
export type ListedMergeRequest = ListedIssuable<DescribedMergeRequest>

const draftMark = /^\s*(?:\[draft\]|\(draft\)|draft:)\s*/i
/** Returns true for `Draft: Retry`, `[Draft] Retry` and `(Draft) Retry`. */
export const isDraftTitle = (title: string): boolean => draftMark.test(title)

/** Returns the title with or without the draft prefix. */
export function titleAsDraft(title: string, isDraft: boolean): string {
  if (isDraft) return isDraftTitle(title) ? title : `Draft: ${title}`
  let plain = title
  while (isDraftTitle(plain)) plain = plain.replace(draftMark, '')
  return plain
}

/** Returns the number of approvals that are missing. */
export const approvalsLeft = ({
  approvals,
  approvalsRequired,
}: Pick<MergeRequest, 'approvals' | 'approvalsRequired'>): number => Math.max(approvalsRequired - approvals.length, 0)

/** Returns whether a merge request has all required approvals, and at least one. */
export const isApproved = (mergeRequest: MergeRequest): boolean =>
  mergeRequest.approvals.length > 0 && approvalsLeft(mergeRequest) === 0

export const isClosedToApproval = ({ state }: Pick<MergeRequest, 'state'>): boolean =>
  state === 'merged' || state === 'locked'

export const isApprovedBy = ({ approvals }: Pick<MergeRequest, 'approvals'>, actor: Actor): boolean =>
  approvals.some(({ user }) => user.id === actor?.id)

/** Returns whether a user with the permission may approve the merge request now. */
export const isApprovableBy = (mergeRequest: MergeRequest, actor: Actor): boolean =>
  actor !== undefined &&
  !isClosedToApproval(mergeRequest) &&
  !isApprovedBy(mergeRequest, actor) &&
  mergeRequest.approvals.length < MAX_APPROVALS

/** Returns whether the user is the author or an assignee, who may update it with `update_own_merge_request`. */
export const isAuthorOrAssignee = (
  { author, assignees }: Pick<MergeRequest, 'author' | 'assignees'>,
  userId: number | undefined,
): boolean => userId !== undefined && [author, ...assignees].some((user) => user?.id === userId)
