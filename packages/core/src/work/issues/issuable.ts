import { z } from 'zod'
import type { Standing } from '../../base/access/can.ts'
import { clearable, iidList, instant } from '../../base/kit/parameter-schemas.ts'
import type { Group } from '../../base/model/group.ts'
import type { User } from '../../base/model/user.ts'
import type { Described } from '../../base/operations/description-store.ts'
import { type Compared, comparedMembers } from '../../base/operations/record-change.ts'
import { type DescribedLabel, labelNames } from '../labels/label.ts'
import type { DescribedMilestone, Milestone } from '../milestones/milestone.ts'

/** The fields that issues and merge requests share. */
export interface Issuable {
  readonly id: number
  /** Unique within the project; issues and merge requests are numbered separately. */
  readonly iid: number
  readonly projectId: number
  readonly projectPath: string
  readonly title: string
  /** `undefined` if the account was deleted. */
  readonly author: User | undefined
  readonly assignees: readonly User[]
  /** Label names in alphabetical order. */
  readonly labels: readonly string[]
  readonly milestone: Milestone | undefined
  readonly isDiscussionLocked: boolean | undefined
  readonly closedBy: User | undefined
  readonly closedAtMs: number | undefined
  readonly createdAtMs: number
  readonly updatedAtMs: number
  /** 0 without an estimate. */
  readonly timeEstimateSeconds: number
  /** The sum of all time logs. */
  readonly timeSpentSeconds: number
  /** The number of notes of users, internal ones included. */
  readonly userNotesCount: number
  /** The numbers of reactions with a thumb up and a thumb down. */
  readonly upvotes: number
  readonly downvotes: number
}

/** An issuable with its own description and that of its milestone. */
export interface DescribedIssuable extends Issuable, Described {
  readonly milestone: DescribedMilestone | undefined
}

/** An issuable in a list, with its labels if they were requested with their details. */
export type ListedIssuable<Item extends DescribedIssuable> = Item & {
  readonly labelDetails?: readonly DescribedLabel[] | undefined
}

/** A single issuable, as one user sees it. */
export type ShownIssuable<Item extends DescribedIssuable> = Item & {
  /** Whether the actor gets notifications about it. */
  readonly isSubscribed: boolean
}

/** The values that events of issues and merge requests compare. */
export const comparedIssuable: Compared<DescribedIssuable> = {
  ...comparedMembers<DescribedIssuable>()(
    'title',
    'description',
    'labels',
    'isDiscussionLocked',
    'closedAtMs',
    'createdAtMs',
    'updatedAtMs',
    'timeEstimateSeconds',
    'timeSpentSeconds',
  ),
  authorId: ({ author }) => author?.id,
  assigneeIds: ({ assignees }) => assignees.map(({ id }) => id),
  milestoneId: ({ milestone }) => milestone?.id,
  closedById: ({ closedBy }) => closedBy?.id,
}

const TITLE_CHARACTERS = 255
const DESCRIPTION_CHARACTERS = 1_048_576
export const MAX_USERS = 100
/** The limit for one list of label ids. */
export const MAX_LABELS = 100

export const issuableTitle = z.string().trim().min(1).max(TITLE_CHARACTERS)

/** The name of an emoji with which the actor has reacted, `None` or `Any`. */
const reaction = z.string().max(255).optional()

const userIds = z.array(z.int()).max(MAX_USERS)
/** User ids; 0, null and an empty list remove everyone. */
export const people = z
  .union([z.null(), userIds])
  .optional()
  .transform((ids) => (ids === undefined ? undefined : [...new Set(ids ?? [])].filter((id) => id !== 0)))

/** Fields that can be set when an item is created and when it is updated. */
export const issuableFields = {
  description: z.string().max(DESCRIPTION_CHARACTERS).nullable().optional(),
  /** A single assignee, where `assigneeIds` takes several; 0 removes all assignees. */
  assigneeId: clearable(z.int()),
  assigneeIds: people,
  /** 0 removes the milestone. */
  milestoneId: clearable(z.int()),
  labels: clearable(labelNames),
}

export const issuableChanges = {
  addLabels: clearable(labelNames),
  removeLabels: clearable(labelNames),
  discussionLocked: clearable(z.boolean()),
  stateEvent: z.enum(['close', 'reopen']).optional(),
}

/** Returns the assignees from whichever parameter is set, or `undefined` if neither is. */
export function assigneesOf(input: {
  readonly assigneeId?: number | null | undefined
  readonly assigneeIds?: readonly number[] | undefined
}): readonly number[] | undefined {
  if (input.assigneeIds !== undefined) return input.assigneeIds
  if (input.assigneeId === undefined) return undefined
  return input.assigneeId === null || input.assigneeId === 0 ? [] : [input.assigneeId]
}

/** `none` or `any`, in upper or lower case. */
export const noneOrAny = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['none', 'any']))
export type NoneOrAny = z.output<typeof noneOrAny>
export const idOrNoneOrAny = z.union([z.int(), noneOrAny]).optional()

export const issuableOrders = [
  'created_at',
  'updated_at',
  'title',
  'label_priority',
  'milestone_due',
  /** The milestone's due date, then the priority of the labels. */
  'priority',
  /** Sorts by upvotes, the newest first among equals. */
  'popularity',
] as const
/** Further orders, for lists of several parents at once. */
export const moreIssuableOrders = ['closed_at'] as const

export const scopes = ['created_by_me', 'created-by-me', 'assigned_to_me', 'assigned-to-me', 'all'] as const

/** Parameters of every list of issues or merge requests, to be spread into its input. */
export const issuableFilterInput = {
  scope: z.enum(scopes).optional(),
  iids: iidList.optional(),
  labels: labelNames.optional(),
  /** A title, `None` or `Any`. */
  milestone: z.string().max(TITLE_CHARACTERS).optional(),
  authorId: z.int().optional(),
  authorUsername: z.string().max(255).optional(),
  assigneeId: idOrNoneOrAny,
  myReactionEmoji: reaction,
  search: z.string().max(TITLE_CHARACTERS).optional(),
  in: z
    .array(z.enum(['title', 'description']))
    .min(1)
    .max(2)
    .optional(),
  createdAfter: instant.optional(),
  createdBefore: instant.optional(),
  updatedAfter: instant.optional(),
  updatedBefore: instant.optional(),
  sort: z.enum(['asc', 'desc']).optional(),
}

type FilterInput = z.output<z.ZodObject<typeof issuableFilterInput>>

const names = z.array(z.string().max(255)).max(100)

/** The id of a milestone, or a word for several milestones, in upper or lower case. */
const milestoneIdOrWord = z
  .union([
    z.int(),
    z
      .string()
      .toLowerCase()
      .pipe(z.enum(['none', 'any', 'started', 'upcoming'])),
  ])
  .optional()

/** Further parameters of the lists of the REST API, to be spread into their input. */
export const restIssuableFilterInput = {
  milestoneId: milestoneIdOrWord,
  /** Returns each label with its color and description instead of its name. */
  withLabelsDetails: z.boolean().default(false),
}

/** The parameters of `not` in lists of the REST API: items that match one of them are left out. */
export const restNegatedInput = {
  iids: iidList.optional(),
  labels: labelNames.optional(),
  /** A title, `None` or `Any`. */
  milestone: z.string().max(TITLE_CHARACTERS).optional(),
  milestoneId: milestoneIdOrWord,
  authorId: z.int().optional(),
  authorUsername: z.string().max(255).optional(),
  assigneeId: idOrNoneOrAny,
  assigneeUsername: z.array(z.string().max(255)).max(100).optional(),
  myReactionEmoji: reaction,
}

type RestNegated = Partial<z.output<z.ZodObject<typeof restNegatedInput>>>

/** Returns the filter that `not` represents. */
export const negationOf = ({ milestoneId, authorUsername, assigneeUsername, ...others }: RestNegated) => ({
  ...others,
  ...milestoneFilterOf(milestoneId),
  ...(authorUsername !== undefined && { authorUsernames: [authorUsername] }),
  ...(assigneeUsername !== undefined && { assigneeUsernames: assigneeUsername }),
})

/** Returns the filter by milestone that an id or a word represents. */
export const milestoneFilterOf = (given: z.output<typeof milestoneIdOrWord>) =>
  typeof given === 'number' ? { milestoneId: given } : given === undefined ? {} : { milestoneWildcard: given }

/** Further parameters for lists of several parents at once, to be spread into their input. */
export const moreIssuableFilterInput = {
  milestoneTitles: names.optional(),
  milestoneWildcard: z.enum(['none', 'any', 'started', 'upcoming']).optional(),
  /** Tags of releases to which the milestone belongs. */
  releaseTags: names.optional(),
  releaseTagWildcard: z.enum(['any', 'none']).optional(),
  closedAfter: instant.optional(),
  closedBefore: instant.optional(),
  /** Items to which the actor has subscribed, or from which they have unsubscribed. */
  subscribed: z.enum(['subscribed', 'unsubscribed']).optional(),
}

/** Excludes items that match any one of these parameters. */
export const negatedIssuableInput = {
  iids: iidList.optional(),
  labels: labelNames.optional(),
  authorUsernames: names.optional(),
  assigneeUsernames: names.optional(),
  milestoneTitles: names.optional(),
  milestoneWildcard: z.enum(['started', 'upcoming']).optional(),
  myReactionEmoji: reaction,
  releaseTags: names.optional(),
}

/** Each list keeps the items that match at least one of its values. */
export const anyOfIssuableInput = {
  labels: labelNames.optional(),
  authorUsernames: names.optional(),
  assigneeUsernames: names.optional(),
}

/** Items that match one of these are left out. */
export interface NegatedIssuableFilter
  extends Omit<Partial<z.output<z.ZodObject<typeof negatedIssuableInput>>>, 'milestoneWildcard'> {
  readonly authorId?: number | undefined
  readonly assigneeId?: number | NoneOrAny | undefined
  /** A title, `None` or `Any`. */
  readonly milestone?: string | undefined
  readonly milestoneId?: number | undefined
  readonly milestoneWildcard?: 'none' | 'any' | 'started' | 'upcoming' | undefined
}

/** Selects among the items that the actor may see. Time bounds are inclusive. */
export interface IssuableFilter
  extends Omit<Partial<FilterInput>, 'scope'>,
    Partial<z.output<z.ZodObject<typeof moreIssuableFilterInput>>> {
  /** Default: everywhere. */
  readonly within?:
    | {
        readonly projectId: number
        /** The actor's standing in the project, if it is known. The query then need not find out what the actor may read. */
        readonly standing?: Standing
      }
    | { readonly group: Pick<Group, 'id' | 'groupIds'>; readonly withSubgroups: boolean }
  readonly milestoneId?: number | undefined
  /** Default: items of archived projects are included. */
  readonly nonArchived?: boolean | undefined
  readonly not?: NegatedIssuableFilter | undefined
  readonly or?: Partial<z.output<z.ZodObject<typeof anyOfIssuableInput>>> | undefined
}

/** Returns the author, assignee or reviewer condition that the scope of a list represents. */
export function scopeOf(
  scope: FilterInput['scope'] | 'reviews_for_me',
  actor: { readonly id: number } | undefined,
): { readonly authorId?: number; readonly assigneeId?: number; readonly reviewerId?: number } {
  if (actor === undefined || scope === undefined || scope === 'all') return {}
  if (scope === 'reviews_for_me') return { reviewerId: actor.id }
  return scope.startsWith('created') ? { authorId: actor.id } : { assigneeId: actor.id }
}

export interface TaskCompletion {
  readonly count: number
  readonly completedCount: number
}

// Only blanks within the line: `\s` would scan all following empty lines again from each of them.
const task = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\]\s/gm

/** Counts the list items of a description that begin with a checkbox: `- [ ] open`, `- [x] done`. */
export function taskCompletionOf({ description = '' }: Described): TaskCompletion {
  const boxes = [...description.matchAll(task)]
  return { count: boxes.length, completedCount: boxes.filter(([, mark]) => mark !== ' ').length }
}
