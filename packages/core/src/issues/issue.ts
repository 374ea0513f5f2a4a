import { z } from 'zod'
import { clearable, day, dayOrInstant } from '../kit/parameter-schemas.ts'
import {
  type DescribedIssuable,
  type Issuable,
  type IssuableFilter,
  idOrNoneOrAny,
  issuableFilterInput,
  moreIssuableFilterInput,
  moreIssuableOrders,
  type NoneOrAny,
  negatedIssuableInput,
  unitedIssuableInput,
} from './issuable.ts'

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

export type DescribedIssue = Issue & DescribedIssuable

/** A change of state, kept for as long as the issue. */
export interface IssueStateEvent {
  readonly issueId: number
  readonly action: 'closed' | 'reopened'
  readonly atMs: number
  readonly userId: number | undefined
}

/** Beyond those of merge requests. */
export const issueFields = {
  /** There is no other kind here. */
  issueType: z.enum(['issue']).optional(),
  confidential: clearable(z.boolean()),
  dueDate: clearable(day),
  /** Of a column of 32 bits. */
  weight: clearable(z.int().min(0).max(2_147_483_647)),
}

export const issueOrders = ['created_at', 'updated_at', 'title', 'label_priority', 'due_date', 'weight'] as const
/** In these all issues are alike: the newest first, whichever way. */
const idleOrders = ['severity', 'escalation_status', 'relative_position'] as const
/** Of the lists for many parents. */
const listingOrders = [...issueOrders, ...moreIssuableOrders, ...idleOrders] as const
export type IssueOrder = (typeof listingOrders)[number]

/** Kinds of issues of the platform; all of ours are of the first. */
export const issueTypes = [
  'issue',
  'incident',
  'task',
  'ticket',
  'test_case',
  'requirement',
  'objective',
  'key_result',
  'epic',
] as const
const types = z.array(z.enum(issueTypes)).max(issueTypes.length)

/** Parameters of every list of issues, to be spread into its input. */
export const issueFilterInput = {
  state: z.enum([...issueStates, 'all']).default('all'),
  ...issuableFilterInput,
  assigneeUsername: z.array(z.string().max(255)).max(100).optional(),
  confidential: z.boolean().optional(),
  weight: idOrNoneOrAny,
  orderBy: z.enum(issueOrders).default('created_at'),
}

const { scope: _scope, sort, ...sharedFilterInput } = issuableFilterInput

/** Which of the issues of many projects or groups at once are wanted. */
export const issuesOfEachFilter = {
  state: z.enum([...issueStates, 'all']).default('all'),
  ...sharedFilterInput,
  ...moreIssuableFilterInput,
  assigneeUsername: z.array(z.string().max(255)).max(100).optional(),
  confidential: z.boolean().optional(),
  dueAfter: dayOrInstant.optional(),
  dueBefore: dayOrInstant.optional(),
  types: types.optional(),
  not: z.object({ ...negatedIssuableInput, types: types.optional(), assigneeId: z.int().optional() }).optional(),
  or: z.object(unitedIssuableInput).optional(),
}

export const issuesOfEachInput = z.object({
  ...issuesOfEachFilter,
  orderBy: z.enum(listingOrders).default('created_at'),
  sort: sort.default('desc'),
})

/** Which issues are wanted, of those that the actor may see, and in which order. */
export interface IssueFilter extends IssuableFilter {
  readonly state?: IssueState | 'all' | undefined
  /** Everyone of them. */
  readonly assigneeUsername?: readonly string[] | undefined
  readonly confidential?: boolean | undefined
  readonly weight?: number | NoneOrAny | undefined
  /** Days; an issue without a due date is left out. */
  readonly dueAfter?: string | undefined
  readonly dueBefore?: string | undefined
  readonly types?: readonly (typeof issueTypes)[number][] | undefined
  readonly not?: z.output<typeof issuesOfEachInput>['not']
  /** Default: `created_at`. Those without the value come last, but for `label_priority desc`. */
  readonly orderBy?: IssueOrder | undefined
}
