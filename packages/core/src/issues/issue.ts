import { z } from 'zod'
import { clearable, day } from '../kit/parameter-schemas.ts'
import { type Issuable, type IssuableFilter, idOrNoneOrAny, issuableFilterInput, type NoneOrAny } from './issuable.ts'

export const issueStates = ['opened', 'closed'] as const
export type IssueState = (typeof issueStates)[number]

export interface Issue extends Issuable {
  readonly state: IssueState
  /** `YYYY-MM-DD` */
  readonly dueDate: string | undefined
  /** Seen by its author, its assignees, and Planner and up. */
  readonly isConfidential: boolean
  readonly weight: number | undefined
}

/** A change of state, kept for as long as the issue. */
export interface IssueStateEvent {
  readonly issueId: number
  readonly action: 'closed' | 'reopened'
  readonly atMs: number
  readonly userId: number | undefined
}

/** Beyond those of merge requests. */
export const issueFields = {
  confidential: clearable(z.boolean()),
  dueDate: clearable(day),
  /** Of a column of 32 bits. */
  weight: clearable(z.int().min(0).max(2_147_483_647)),
}

export const issueOrders = ['created_at', 'updated_at', 'title', 'label_priority', 'due_date', 'weight'] as const
export type IssueOrder = (typeof issueOrders)[number]

/** Parameters of every list of issues, to be spread into its input. */
export const issueFilterInput = {
  state: z.enum([...issueStates, 'all']).default('all'),
  ...issuableFilterInput,
  assigneeUsername: z.array(z.string().max(255)).max(100).optional(),
  confidential: z.boolean().optional(),
  weight: idOrNoneOrAny,
  orderBy: z.enum(issueOrders).default('created_at'),
}

/** Which issues are wanted, of those that the actor may see, and in which order. */
export interface IssueFilter extends IssuableFilter {
  readonly state?: IssueState | 'all' | undefined
  /** Everyone of them. */
  readonly assigneeUsername?: readonly string[] | undefined
  readonly confidential?: boolean | undefined
  readonly weight?: number | NoneOrAny | undefined
  /** Default: `created_at`. Those without the value come last. */
  readonly orderBy?: IssueOrder | undefined
}
