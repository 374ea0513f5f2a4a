import { z } from 'zod'
import {
  anyOfIssuableInput,
  type DescribedIssuable,
  type Issuable,
  type IssuableFilter,
  idOrNoneOrAny,
  issuableFilterInput,
  issuableOrders,
  type ListedIssuable,
  milestoneFilterOf,
  moreIssuableFilterInput,
  moreIssuableOrders,
  type NoneOrAny,
  negatedIssuableInput,
  negationOf,
  restIssuableFilterInput,
  restNegatedInput,
  scopes,
} from '../issues/issuable.ts'
import { instant } from '../kit/parameter-schemas.ts'
import type { User } from '../model/user.ts'

export const mergeRequestStates = ['opened', 'closed', 'locked', 'merged'] as const
export type MergeRequestState = (typeof mergeRequestStates)[number]

export interface MergeRequest extends Issuable {
  readonly state: MergeRequestState
  readonly sourceBranch: string
  readonly targetBranch: string
  /** The head commit of the source branch, or `undefined` if the branch does not exist. */
  readonly sha: string | undefined
  /** True if the title has a draft prefix. */
  readonly isDraft: boolean
  readonly reviewers: readonly User[]
  /** Squash the commits when merging. */
  readonly isSquashed: boolean
  /** Remove the source branch when merging; `undefined` if this was not set. */
  readonly removesSourceBranch: boolean | undefined
  readonly mergedBy: User | undefined
  readonly mergedAtMs: number | undefined
  /** `undefined` also if the target branch was only moved forward. */
  readonly mergeCommitSha: string | undefined
  readonly squashCommitSha: string | undefined
}

export type DescribedMergeRequest = MergeRequest & DescribedIssuable
/** A merge request in a list. */
export type ListedMergeRequest = ListedIssuable<DescribedMergeRequest>

const BRANCH_CHARACTERS = 255

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

/**
 * Returns what blocks a merge. The branches are not checked for conflicts: `unchecked` means no other reason was found.
 */
export function mergeBlocker({ state, isDraft }: MergeRequest): 'not_open' | 'draft_status' | 'unchecked' {
  if (state !== 'opened') return 'not_open'
  return isDraft ? 'draft_status' : 'unchecked'
}

/** Returns whether the user is the author or an assignee, who may update it with `update_own_merge_request`. */
export const isAuthorOrAssignee = (
  { author, assignees }: Pick<MergeRequest, 'author' | 'assignees'>,
  userId: number | undefined,
): boolean => userId !== undefined && [author, ...assignees].some((user) => user?.id === userId)

/** Parameters of every list of merge requests, to be spread into its input. */
export const mergeRequestFilterInput = {
  state: z.enum([...mergeRequestStates, 'all']).default('all'),
  ...issuableFilterInput,
  assigneeUsername: z.string().max(255).optional(),
  reviewerId: idOrNoneOrAny,
  reviewerUsername: z.string().max(255).optional(),
  sourceBranch: z.string().max(BRANCH_CHARACTERS).optional(),
  targetBranch: z.string().max(BRANCH_CHARACTERS).optional(),
  draft: z.boolean().optional(),
  /** The deprecated name of `draft`. */
  wip: z.enum(['yes', 'no']).optional(),
  orderBy: z.enum(issuableOrders).default('created_at'),
}

/** Parameters of the lists of the REST API, to be spread into their input. */
export const restMergeRequestFilterInput = {
  ...mergeRequestFilterInput,
  ...restIssuableFilterInput,
  scope: z.enum([...scopes, 'reviews_for_me']).optional(),
  orderBy: z.enum([...issuableOrders, 'merged_at']).default('created_at'),
  mergeUserId: z.int().optional(),
  mergeUserUsername: z.string().max(255).optional(),
  mergedAfter: instant.optional(),
  mergedBefore: instant.optional(),
  sourceProjectId: z.int().optional(),
  not: z
    .object({
      ...restNegatedInput,
      reviewerId: z.int().optional(),
      reviewerUsername: z.string().max(255).optional(),
      sourceBranch: z.string().max(BRANCH_CHARACTERS).optional(),
      targetBranch: z.string().max(BRANCH_CHARACTERS).optional(),
    })
    .optional(),
}

/** Returns the filter that the parameters of the REST API stand for. `wip` is the former name of `draft`. */
export function mergeRequestFilterOf<
  Input extends Pick<
    z.output<z.ZodObject<typeof restMergeRequestFilterInput>>,
    'milestoneId' | 'not' | 'mergeUserUsername' | 'draft' | 'wip' | 'scope'
  >,
>({ milestoneId, not, mergeUserUsername, draft, wip, scope: _, ...filter }: Input) {
  return {
    ...filter,
    ...milestoneFilterOf(milestoneId),
    draft: draft ?? (wip === undefined ? undefined : wip === 'yes'),
    mergedByUsername: mergeUserUsername,
    ...(not !== undefined && { not: negatedFilterOf(not) }),
  }
}

function negatedFilterOf({
  sourceBranch,
  targetBranch,
  ...not
}: NonNullable<z.output<(typeof restMergeRequestFilterInput)['not']>>) {
  return {
    ...negationOf(not),
    reviewerId: not.reviewerId,
    reviewerUsername: not.reviewerUsername,
    ...(sourceBranch !== undefined && { sourceBranches: [sourceBranch] }),
    ...(targetBranch !== undefined && { targetBranches: [targetBranch] }),
  }
}

const names = z.array(z.string().max(255)).max(100)

/** Further parameters for lists of several parents at once. */
const moreMergeRequestFilterInput = {
  ...moreIssuableFilterInput,
  /** Every one of these users must be assigned. */
  assigneeUsernames: names.optional(),
  mergedByUsername: z.string().max(255).optional(),
  /** Any one of these branches. */
  sourceBranches: names.optional(),
  targetBranches: names.optional(),
  mergedAfter: instant.optional(),
  mergedBefore: instant.optional(),
  not: z
    .object({
      ...negatedIssuableInput,
      reviewerUsername: z.string().max(255).optional(),
      sourceBranches: names.optional(),
      targetBranches: names.optional(),
    })
    .optional(),
  or: z
    .object({
      ...anyOfIssuableInput,
      /** `onlyReviewerUsername` and `reviewers` are combined with "or". */
      onlyReviewerUsername: z.string().max(255).optional(),
      reviewers: z.enum(['none', 'any']).optional(),
    })
    .optional(),
}

/** Orders of lists for several parents. Items without the value come last, except with `label_priority desc`. */
export const mergeRequestOrders = [...issuableOrders, ...moreIssuableOrders, 'merged_at'] as const
export type MergeRequestOrder = (typeof mergeRequestOrders)[number]

const { scope: _scope, ...filterInput } = mergeRequestFilterInput
/** Parameters of lists for several parents at once. */
export const mergeRequestsOfEachInput = z.object({
  ...filterInput,
  ...moreMergeRequestFilterInput,
  orderBy: z.enum(mergeRequestOrders).default('created_at'),
})

/** Selects among the merge requests that the actor may see, and orders them. */
export interface MergeRequestFilter
  extends Omit<IssuableFilter, 'not' | 'or'>,
    Omit<Partial<z.output<z.ZodObject<typeof moreMergeRequestFilterInput>>>, 'not'> {
  readonly mergeUserId?: number | undefined
  readonly sourceProjectId?: number | undefined
  readonly not?:
    | (NonNullable<IssuableFilter['not']> & {
        readonly reviewerId?: number | undefined
        readonly reviewerUsername?: string | undefined
        readonly sourceBranches?: readonly string[] | undefined
        readonly targetBranches?: readonly string[] | undefined
      })
    | undefined
  readonly state?: MergeRequestState | 'all' | undefined
  readonly assigneeUsername?: string | undefined
  readonly reviewerId?: number | NoneOrAny | undefined
  readonly reviewerUsername?: string | undefined
  readonly sourceBranch?: string | undefined
  readonly targetBranch?: string | undefined
  readonly draft?: boolean | undefined
  /** Selects merge requests that mention this issue. */
  readonly mentionsIssueId?: number | undefined
  /** Selects merge requests into the default branch that say that they close this issue. */
  readonly closesIssueId?: number | undefined
  /** Default: `created_at`. */
  readonly orderBy?: MergeRequestOrder | undefined
}
