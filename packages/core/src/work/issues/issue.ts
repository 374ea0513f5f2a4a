import { z } from 'zod'
import { MAX_INTEGER } from '../../base/kit/common-fields.ts'
import { clearable, day, dayOrInstant, instant } from '../../base/kit/parameter-schemas.ts'
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
  type ShownIssuable,
} from './issuable.ts'

const issueStates = ['opened', 'closed'] as const
export type IssueState = (typeof issueStates)[number]

/** The types that an issue can have. */
export const storedIssueTypes = ['issue', 'incident', 'test_case', 'task'] as const
export type IssueType = (typeof storedIssueTypes)[number]

export const issueSeverities = ['unknown', 'low', 'medium', 'high', 'critical'] as const
export type IssueSeverity = (typeof issueSeverities)[number]

export interface Issue extends Issuable {
  readonly type: IssueType
  /** `unknown` unless it is an incident. */
  readonly severity: IssueSeverity
  readonly state: IssueState
  /** `YYYY-MM-DD` */
  readonly dueDate: string | undefined
  /** Visible only to its author, its assignees, and members with the Planner role or higher. */
  readonly isConfidential: boolean
  readonly weight: number | undefined
  /** The id of the issue in another project that continues this one. */
  readonly movedToId: number | undefined
  /** The number of merge requests that close the issue, where it was asked for. */
  readonly closingCount?: number | undefined
}

export type DescribedIssue = Issue & DescribedIssuable
export type ListedIssue = ListedIssuable<DescribedIssue>
export type ShownIssue = ShownIssuable<DescribedIssue>

/** A change of state. Deleted only together with the issue. */
export interface IssueStateEvent {
  readonly issueId: number
  readonly action: 'closed' | 'reopened'
  readonly atMs: number
  readonly userId: number | undefined
}

/** Fields that merge requests do not have. */
export const issueFields = {
  issueType: z.enum(storedIssueTypes).optional(),
  confidential: clearable(z.boolean()),
  dueDate: clearable(day),
  /** The column has 32 bits. */
  weight: clearable(z.int().min(0).max(MAX_INTEGER)),
}

const issueOrders = [
  ...issuableOrders,
  'due_date',
  'weight',
  /** The newest first, in both directions: issues have no positions of their own. */
  'relative_position',
] as const
/** The orders of lists for several parents at once. */
const listingOrders = [...issueOrders, ...moreIssuableOrders, 'severity', 'escalation_status'] as const
export type IssueOrder = (typeof listingOrders)[number]

/** The issue types of GitLab, which filters accept. */
const issueTypes = [
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
const issueFilterInput = {
  state: z.enum([...issueStates, 'all']).default('all'),
  ...issuableFilterInput,
  assigneeUsername: z.array(z.string().max(255)).max(100).optional(),
  confidential: z.boolean().optional(),
  weight: idOrNoneOrAny,
  orderBy: z.enum(issueOrders).default('created_at'),
}

const dueDates = [
  '0',
  'any',
  'today',
  'tomorrow',
  'overdue',
  'week',
  'month',
  'next_month_and_previous_two_weeks',
] as const
export type DueDateWord = (typeof dueDates)[number]

/** Parameters of the lists and statistics of the REST API, to be spread into their input. */
export const restIssueFilterInput = {
  ...issueFilterInput,
  ...restIssuableFilterInput,
  issueType: z.enum(storedIssueTypes).optional(),
  /** `0` selects issues without a due date. */
  dueDate: z.enum(dueDates).optional(),
  not: z
    .object({
      ...restNegatedInput,
      weight: z.int().optional(),
      issueType: z.enum(storedIssueTypes).optional(),
    })
    .optional(),
}

/** Returns the filter that the parameters of the REST API represent. */
export function issueFilterOf<
  Input extends Pick<z.output<z.ZodObject<typeof restIssueFilterInput>>, 'milestoneId' | 'issueType' | 'not'>,
>({ milestoneId, issueType, not, ...filter }: Input) {
  return {
    ...filter,
    ...milestoneFilterOf(milestoneId),
    ...(issueType !== undefined && { types: [issueType] }),
    ...(not !== undefined && { not: negatedIssueFilterOf(not) }),
  }
}

const negatedIssueFilterOf = ({ issueType, ...not }: NonNullable<NegatedRestInput>) => ({
  ...negationOf(not),
  weight: not.weight,
  ...(issueType !== undefined && { types: [issueType] }),
})
type NegatedRestInput = z.output<(typeof restIssueFilterInput)['not']>

/** Parameters for new issues that only administrators and owners may set. */
/** The largest number that a new issue can be given. Later issues get higher ones, which a column of 32 bits must hold. */
const MAX_CHOSEN_IID = 1_000_000_000

export const ownerFields = {
  iid: z.int().min(1).max(MAX_CHOSEN_IID).optional(),
  createdAt: instant.optional(),
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
  readonly dueDate?: DueDateWord | undefined
  /** Selects the issues that a merge request mentions, or only those that it says it closes. */
  readonly mentionedBy?: { readonly id: number; readonly onlyClosing?: true } | undefined
  readonly not?:
    | (NonNullable<IssuableFilter['not']> & {
        readonly types?: readonly (typeof issueTypes)[number][] | undefined
        readonly weight?: number | undefined
      })
    | undefined
  /** Default: `created_at`. Issues without the value come last, except with `label_priority desc`. */
  readonly orderBy?: IssueOrder | undefined
}
