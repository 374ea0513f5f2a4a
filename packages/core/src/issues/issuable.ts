import { z } from 'zod'
import type { Group } from '../groups/group.ts'
import type { Described } from '../kit/description-store.ts'
import { clearable, iidList, instant } from '../kit/parameter-schemas.ts'
import { labelNames } from '../labels/label.ts'
import type { DescribedMilestone, Milestone } from '../milestones/milestone.ts'
import type { User } from '../users/user.ts'

/** What issues and merge requests have in common. */
export interface Issuable {
  readonly id: number
  /** Counts within the project, apart for issues and for merge requests. */
  readonly iid: number
  readonly projectId: number
  readonly projectPath: string
  readonly title: string
  /** `undefined`: the account is gone. */
  readonly author: User | undefined
  readonly assignees: readonly User[]
  /** Names, in their order. */
  readonly labels: readonly string[]
  readonly milestone: Milestone | undefined
  readonly isDiscussionLocked: boolean | undefined
  readonly closedBy: User | undefined
  readonly closedAtMs: number | undefined
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** With what it and its milestone say. */
export interface DescribedIssuable extends Issuable, Described {
  readonly milestone: DescribedMilestone | undefined
}

const TITLE_CHARACTERS = 255
const DESCRIPTION_CHARACTERS = 1_048_576
export const MOST_PEOPLE = 100
/** In one list of ids. */
export const MOST_LABELS = 100

export const issuableTitle = z.string().trim().min(1).max(TITLE_CHARACTERS)

const userIds = z.array(z.int()).max(MOST_PEOPLE)
/** Ids of users; 0, null and an empty list are nobody. */
export const people = z
  .union([z.null(), userIds])
  .optional()
  .transform((ids) => (ids === undefined ? undefined : [...new Set(ids ?? [])].filter((id) => id !== 0)))

/** What can be said when one is made and when it is changed. */
export const issuableFields = {
  description: clearable(z.string().max(DESCRIPTION_CHARACTERS)),
  /** One, where `assigneeIds` are several; 0 is nobody. */
  assigneeId: clearable(z.int()),
  assigneeIds: people,
  /** 0 is none. */
  milestoneId: clearable(z.int()),
  labels: clearable(labelNames),
}

export const issuableChanges = {
  addLabels: clearable(labelNames),
  removeLabels: clearable(labelNames),
  discussionLocked: clearable(z.boolean()),
  stateEvent: z.enum(['close', 'reopen']).optional(),
}

/** Of the two ways to say who is assigned. `undefined`: nothing was said. */
export function assigneesOf(input: {
  readonly assigneeId?: number | null | undefined
  readonly assigneeIds?: readonly number[] | undefined
}): readonly number[] | undefined {
  if (input.assigneeIds !== undefined) return input.assigneeIds
  if (input.assigneeId === undefined) return undefined
  return input.assigneeId === null || input.assigneeId === 0 ? [] : [input.assigneeId]
}

/** Any word of letters' case means none at all, or some, whichever. */
const noneOrAny = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['none', 'any']))
export type NoneOrAny = z.output<typeof noneOrAny>
export const idOrNoneOrAny = z.union([z.int(), noneOrAny]).optional()

export const issuableOrders = ['created_at', 'updated_at', 'title', 'label_priority'] as const
/** Beyond those, of the lists for many parents. */
export const moreIssuableOrders = [
  'closed_at',
  'milestone_due',
  /** When the milestone is due, then the priority of the labels. */
  'priority',
  /** Nobody can vote yet: the newest first, whichever way. */
  'popularity',
] as const

/** Parameters of every list of them, to be spread into its input. */
export const issuableFilterInput = {
  scope: z.enum(['created_by_me', 'created-by-me', 'assigned_to_me', 'assigned-to-me', 'all']).optional(),
  iids: iidList.optional(),
  labels: labelNames.optional(),
  /** A title, `None` or `Any`. */
  milestone: z.string().max(TITLE_CHARACTERS).optional(),
  authorId: z.int().optional(),
  authorUsername: z.string().max(255).optional(),
  assigneeId: idOrNoneOrAny,
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

/** What lists for many parents at once can ask for beyond that, to be spread into their input. */
export const moreIssuableFilterInput = {
  milestoneTitles: names.optional(),
  milestoneWildcard: z.enum(['none', 'any', 'started', 'upcoming']).optional(),
  closedAfter: instant.optional(),
  closedBefore: instant.optional(),
}

/** What none of the items may be; each thing that is said counts by itself. */
export const negatedIssuableInput = {
  iids: iidList.optional(),
  labels: labelNames.optional(),
  authorUsernames: names.optional(),
  assigneeUsernames: names.optional(),
  milestoneTitles: names.optional(),
  milestoneWildcard: z.enum(['started', 'upcoming']).optional(),
}

/** Lists of which each item has to have one at least. */
export const unitedIssuableInput = {
  labels: labelNames.optional(),
  authorUsernames: names.optional(),
  assigneeUsernames: names.optional(),
}

/** Which of those that the actor may see are wanted; bounds of times are inclusive. */
export interface IssuableFilter
  extends Omit<Partial<FilterInput>, 'scope'>,
    Partial<z.output<z.ZodObject<typeof moreIssuableFilterInput>>> {
  /** Default: everywhere. */
  readonly within?:
    | { readonly projectId: number }
    | { readonly group: Pick<Group, 'id' | 'groupIds'>; readonly withSubgroups: boolean }
  readonly milestoneId?: number | undefined
  /** Default: those of archived projects too. */
  readonly nonArchived?: boolean | undefined
  readonly not?: Partial<z.output<z.ZodObject<typeof negatedIssuableInput>>> | undefined
  readonly or?: Partial<z.output<z.ZodObject<typeof unitedIssuableInput>>> | undefined
}

/** The scope of a list as conditions on author and assignee. */
export function scopeOf(scope: FilterInput['scope'], actor: { readonly id: number } | undefined) {
  if (actor === undefined || scope === undefined || scope === 'all') return {}
  return scope.startsWith('created') ? { authorId: actor.id } : { assigneeId: actor.id }
}

export interface TaskCompletion {
  readonly count: number
  readonly completedCount: number
}

// Of blanks within the line only: `\s` would go through all empty lines again from each of them.
const task = /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[([ xX])\]\s/gm

/** Items of lists in a description that begin with a box: `- [ ] open`, `- [x] done`. */
export function taskCompletionOf({ description = '' }: Described): TaskCompletion {
  const boxes = [...description.matchAll(task)]
  return { count: boxes.length, completedCount: boxes.filter(([, mark]) => mark !== ' ').length }
}
