import { z } from 'zod'
import { clearable, day, dayOrInstant } from '../kit/parameter-schemas.ts'
import {
  anyOfIssuableInput,
  type DescribedIssuable,
  type Issuable,
  type IssuableFilter,
  idOrNoneOrAny,
  issuableFilterInput,
  moreIssuableFilterInput,
  moreIssuableOrders,
  type NoneOrAny,
  negatedIssuableInput,
} from './issuable.ts'

export const issueStates = ['opened', 'closed'] as const
export type IssueState = (typeof issueStates)[number]

export interface Issue extends Issuable {
  readonly state: IssueState
  /** `YYYY-MM-DD` */
  readonly dueDate: string | undefined
  /** Visible only to its author, its assignees, and members with the Planner role or higher. */
  readonly isConfidential: boolean
  readonly weight: number | undefined
}

export type DescribedIssue = Issue & DescribedIssuable

/** A change of state. Deleted only together with the issue. */
export interface IssueStateEvent {
  readonly issueId: number
  readonly action: 'closed' | 'reopened'
  readonly atMs: number
  readonly userId: number | undefined
}

/** Fields that merge requests do not have. */
export const issueFields = {
  /** The only supported type. */
  issueType: z.enum(['issue']).optional(),
  confidential: clearable(z.boolean()),
  dueDate: clearable(day),
  /** The column has 32 bits. */
  weight: clearable(z.int().min(0).max(2_147_483_647)),
}

export const issueOrders = ['created_at', 'updated_at', 'title', 'label_priority', 'due_date', 'weight'] as const
/** Accepted orders by values that are the same for all issues: the newest first, in both directions. */
const constantOrders = ['severity', 'escalation_status', 'relative_position'] as const
/** The orders of lists for several parents at once. */
const listingOrders = [...issueOrders, ...moreIssuableOrders, ...constantOrders] as const
export type IssueOrder = (typeof listingOrders)[number]

/** The issue types of GitLab; every stored issue has the first. */
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

/** Filter parameters of lists for several projects or groups at once. */
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
  or: z.object(anyOfIssuableInput).optional(),
}

export const issuesOfEachInput = z.object({
  ...issuesOfEachFilter,
  orderBy: z.enum(listingOrders).default('created_at'),
  sort: sort.default('desc'),
})

/** Selects among the issues that the actor may see, and orders them. */
export interface IssueFilter extends IssuableFilter {
  readonly state?: IssueState | 'all' | undefined
  /** Every one of these users must be assigned. */
  readonly assigneeUsername?: readonly string[] | undefined
  readonly confidential?: boolean | undefined
  readonly weight?: number | NoneOrAny | undefined
  /** Dates. Issues without a due date are left out. */
  readonly dueAfter?: string | undefined
  readonly dueBefore?: string | undefined
  readonly types?: readonly (typeof issueTypes)[number][] | undefined
  readonly not?: z.output<typeof issuesOfEachInput>['not']
  /** Default: `created_at`. Issues without the value come last, except with `label_priority desc`. */
  readonly orderBy?: IssueOrder | undefined
}
