import { z } from 'zod'
import {
  type Issuable,
  type IssuableFilter,
  idOrNoneOrAny,
  issuableFilterInput,
  issuableOrders,
  type NoneOrAny,
} from '../issues/issuable.ts'
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

const BRANCH_CHARACTERS = 255
export const branchName = z.string().trim().min(1).max(BRANCH_CHARACTERS)

const draftMark = /^\s*(?:\[draft\]|\(draft\)|draft:)/i
/** `Draft: Retry`, `[Draft] Retry`, `(Draft) Retry` */
export const isDraftTitle = (title: string): boolean => draftMark.test(title)

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

/** Which merge requests are wanted, of those that the actor may see, and in which order. */
export interface MergeRequestFilter extends IssuableFilter {
  readonly state?: MergeRequestState | 'all' | undefined
  readonly assigneeUsername?: string | undefined
  readonly reviewerId?: number | NoneOrAny | undefined
  readonly reviewerUsername?: string | undefined
  readonly sourceBranch?: string | undefined
  readonly targetBranch?: string | undefined
  readonly draft?: boolean | undefined
  /** Default: `created_at`. */
  readonly orderBy?: (typeof issuableOrders)[number] | undefined
}
