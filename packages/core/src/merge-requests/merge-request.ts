import { z } from 'zod'
import {
  type DescribedIssuable,
  type Issuable,
  type IssuableFilter,
  idOrNoneOrAny,
  issuableFilterInput,
  issuableOrders,
  moreIssuableFilterInput,
  moreIssuableOrders,
  type NoneOrAny,
  negatedIssuableInput,
  unitedIssuableInput,
} from '../issues/issuable.ts'
import { instant } from '../kit/parameter-schemas.ts'
import type { User } from '../users/user.ts'

export const mergeRequestStates = ['opened', 'closed', 'locked', 'merged'] as const
export type MergeRequestState = (typeof mergeRequestStates)[number]

export interface MergeRequest extends Issuable {
  readonly state: MergeRequestState
  readonly sourceBranch: string
  readonly targetBranch: string
  /** The commit that the source branch names now; `undefined`: there is no such branch. */
  readonly sha: string | undefined
  /** Its title says so. */
  readonly isDraft: boolean
  readonly reviewers: readonly User[]
  /** Its commits are to become one. */
  readonly isSquashed: boolean
  /** What was asked for; `undefined`: nothing was. */
  readonly removesSourceBranch: boolean | undefined
  readonly mergedBy: User | undefined
  readonly mergedAtMs: number | undefined
}

export type DescribedMergeRequest = MergeRequest & DescribedIssuable

const BRANCH_CHARACTERS = 255

const draftMark = /^\s*(?:\[draft\]|\(draft\)|draft:)\s*/i
/** `Draft: Retry`, `[Draft] Retry`, `(Draft) Retry` */
export const isDraftTitle = (title: string): boolean => draftMark.test(title)

/** The same title, so that it says whether it is a draft. */
export function titleAsDraft(title: string, isDraft: boolean): string {
  if (isDraft) return isDraftTitle(title) ? title : `Draft: ${title}`
  let plain = title
  while (isDraftTitle(plain)) plain = plain.replace(draftMark, '')
  return plain
}

/** What stands in the way of a merge, as far as anybody looks: nothing looks into the branches. */
export function mergeHindranceOf({ state, isDraft }: MergeRequest): 'not_open' | 'draft_status' | 'unchecked' {
  if (state !== 'opened') return 'not_open'
  return isDraft ? 'draft_status' : 'unchecked'
}

/** Its author and its assignees may change it, where they may change anything. */
export const isTheirOwn = (
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
  /** Older clients' word for `draft`. */
  wip: z.enum(['yes', 'no']).optional(),
  orderBy: z.enum(issuableOrders).default('created_at'),
}

const names = z.array(z.string().max(255)).max(100)

/** What lists for many parents at once can ask for beyond that. */
const moreMergeRequestFilterInput = {
  ...moreIssuableFilterInput,
  /** Everyone of them. */
  assigneeUsernames: names.optional(),
  mergedByUsername: z.string().max(255).optional(),
  /** One of them. */
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
      ...unitedIssuableInput,
      /** One of the two. */
      onlyReviewerUsername: z.string().max(255).optional(),
      reviewers: z.enum(['none', 'any']).optional(),
    })
    .optional(),
}

/** Orders of the lists for many parents. Those without the value come last, but for `label_priority desc`. */
export const mergeRequestOrders = [...issuableOrders, ...moreIssuableOrders, 'merged_at'] as const
export type MergeRequestOrder = (typeof mergeRequestOrders)[number]

const { scope: _, ...filterInput } = mergeRequestFilterInput
/** Of the lists for many parents. */
export const mergeRequestsOfEachInput = z.object({
  ...filterInput,
  ...moreMergeRequestFilterInput,
  orderBy: z.enum(mergeRequestOrders).default('created_at'),
})

/** Which merge requests are wanted, of those that the actor may see, and in which order. */
export interface MergeRequestFilter
  extends Omit<IssuableFilter, 'not' | 'or'>,
    Partial<z.output<z.ZodObject<typeof moreMergeRequestFilterInput>>> {
  readonly state?: MergeRequestState | 'all' | undefined
  readonly assigneeUsername?: string | undefined
  readonly reviewerId?: number | NoneOrAny | undefined
  readonly reviewerUsername?: string | undefined
  readonly sourceBranch?: string | undefined
  readonly targetBranch?: string | undefined
  readonly draft?: boolean | undefined
  /** Default: `created_at`. */
  readonly orderBy?: MergeRequestOrder | undefined
}
