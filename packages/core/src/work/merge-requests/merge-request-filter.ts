import { z } from 'zod'
import { instant } from '../../base/kit/parameter-schemas.ts'
import {
  anyOfIssuableInput,
  type IssuableFilter,
  idOrNoneOrAny,
  issuableFilterInput,
  issuableOrders,
  milestoneFilterOf,
  moreIssuableFilterInput,
  moreIssuableOrders,
  type NoneOrAny,
  negatedIssuableInput,
  negationOf,
  noneOrAny,
  restIssuableFilterInput,
  restNegatedInput,
  scopes,
} from '../issues/issuable.ts'
import { type MergeRequestState, mergeRequestStates, type ReviewState, reviewStates } from './merge-request.ts'

const BRANCH_CHARACTERS = 255
const names = z.array(z.string().max(255)).max(100)

/** The ids of users who all approved a merge request, or `None` or `Any`. */
const approverIds = z
  .array(z.union([z.int(), noneOrAny]))
  .max(5)
  .transform((given, context): readonly number[] | NoneOrAny => {
    if (given.length === 1 && typeof given[0] === 'string') return given[0]
    const ids = given.filter((id) => typeof id === 'number')
    if (ids.length === given.length) return ids
    context.addIssue({ code: 'custom' })
    return z.NEVER
  })
  .optional()

/** Parameters of every list of merge requests, to be spread into its input. */
const mergeRequestFilterInput = {
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
  approvedByIds: approverIds,
  approvedByUsernames: names.optional(),
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
      approvedByIds: approverIds,
      approvedByUsernames: names.optional(),
      sourceBranch: z.string().max(BRANCH_CHARACTERS).optional(),
      targetBranch: z.string().max(BRANCH_CHARACTERS).optional(),
    })
    .optional(),
}

/** Returns the filter that the parameters of the REST API represent. `wip` is the former name of `draft`. */
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
    approvedByIds: not.approvedByIds,
    approvedByUsernames: not.approvedByUsernames,
    ...(sourceBranch !== undefined && { sourceBranches: [sourceBranch] }),
    ...(targetBranch !== undefined && { targetBranches: [targetBranch] }),
  }
}

const reviewStateList = z.array(z.enum(reviewStates)).max(reviewStates.length).optional()

/** Further parameters for lists of several parents at once. */
const moreMergeRequestFilterInput = {
  ...moreIssuableFilterInput,
  /** The state of some reviewer: of the one in `reviewerId` or `reviewerUsername`, if it is set. */
  reviewState: z.enum(reviewStates).optional(),
  /** Any one of these states. */
  reviewStates: reviewStateList,
  /** All of these users approved it. */
  approvedByUsernames: names.optional(),
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
      /** None of these users approved it. */
      approvedByUsernames: names.optional(),
      /** No reviewer has one of these states. */
      reviewStates: reviewStateList,
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
      reviewStates: reviewStateList,
    })
    .optional(),
}

/** Orders of lists for several parents. Items without the value come last, except with `label_priority desc`. */
const mergeRequestOrders = [...issuableOrders, ...moreIssuableOrders, 'merged_at'] as const
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
  readonly approvedByIds?: readonly number[] | NoneOrAny | undefined
  readonly sourceProjectId?: number | undefined
  readonly not?:
    | (NonNullable<IssuableFilter['not']> & {
        readonly reviewerId?: number | undefined
        readonly reviewerUsername?: string | undefined
        /** None of these users approved it. */
        readonly approvedByIds?: readonly number[] | NoneOrAny | undefined
        readonly approvedByUsernames?: readonly string[] | undefined
        readonly reviewStates?: readonly ReviewState[] | undefined
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
  readonly ids?: readonly number[] | undefined
  /** Selects merge requests that mention this issue. */
  readonly mentionsIssueId?: number | undefined
  /** Selects merge requests into the default branch that say that they close this issue. */
  readonly closesIssueId?: number | undefined
  /** Default: `created_at`. */
  readonly orderBy?: MergeRequestOrder | undefined
}
