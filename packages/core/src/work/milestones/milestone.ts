import { z } from 'zod'
import { DAY_MS, dayAt } from '../../base/kit/day.ts'
import {
  changesOf,
  day as dayField,
  type FieldErrors,
  id,
  int,
  MAX_LISTED_TEXT,
  maxCharacters,
  maxLength,
  notBlank,
  type ObjectOf,
  oneOf,
  parametersOf,
  text,
  time,
} from '../../base/kit/field-table.ts'
import { pageInput } from '../../base/kit/page.ts'
import { day, dayOrInstant, iidList, instant } from '../../base/kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import { withoutHtml } from '../../base/kit/without-html.ts'
import { type ParentWithPath, parentWebPath } from '../../base/model/parent.ts'
import { parentInput } from '../../identity/parents/parent-operations.ts'

export const milestoneStates = ['active', 'closed'] as const

/**
 * In both directions, milestones without a due date come last. In `expired_last_due_date`, only expired milestones come
 * after them.
 */
const milestoneOrders = ['due_date', 'expired_last_due_date', 'created_at', 'updated_at'] as const
export type MilestoneOrder = (typeof milestoneOrders)[number]
export const milestoneOrder = z.enum(milestoneOrders).default('due_date')

const LAST_DAY = '9999-12-31'
const isTooLate = (date: string) => date.length > LAST_DAY.length
const notTooLate = (date: string) => isTooLate(date) && `date must not be after ${LAST_DAY}`
export const MAX_TITLE = 255

/** Accepts dates after the year 9999, so that `notTooLate` can reject them with GitLab's message. */
const anyDay = z.union([day, z.string().regex(/^\d{5,9}-\d{2}-\d{2}$/)])

/** The fields that a user sets. */
export const milestoneDraft = {
  title: text('title').parse(z.string().transform(withoutHtml)).check(notBlank, maxCharacters(MAX_TITLE)),
  description: text('description').check(maxLength(MAX_LISTED_TEXT)).optional().parse(z.string().nullable().optional()),
  startDate: dayField('start_date').parse(anyDay).check(notTooLate).optional(),
  dueDate: dayField('due_date').parse(anyDay).check(notTooLate).optional(),
}

const { description, ...listed } = milestoneDraft
/** The fields of a milestone that lists contain: all except the description. */
export const milestoneFields = {
  id: id(),
  /** Unique within the parent. */
  iid: int('iid'),
  ...listed,
  state: oneOf('state', milestoneStates),
  createdAtMs: time('created_at_ms'),
  updatedAtMs: time('updated_at_ms'),
}
export const describedMilestoneFields = { ...milestoneFields, description }

export interface Milestone extends ObjectOf<typeof milestoneFields> {
  readonly parent: ParentWithPath
}
export interface DescribedMilestone extends ObjectOf<typeof describedMilestoneFields> {
  readonly parent: ParentWithPath
}
export type MilestoneDraft = ObjectOf<typeof milestoneDraft>

const one = { ...parentInput, milestoneId: z.int() }
export const milestoneInput = z.object(one)
export const pageOfMilestoneInput = z.object({ ...one, ...pageInput })
/** A string is accepted too, so that it leads to `not_found` instead of a parameter error. */
export const removeMilestoneInput = z.object({ ...parentInput, milestoneId: z.union([z.int(), z.string()]) })
export const createMilestoneInput = z.object({ ...parentInput, ...parametersOf(milestoneDraft) })
export const updateMilestoneInput = z.object({
  ...one,
  ...changesOf(milestoneDraft),
  stateEvent: z.enum(['close', 'activate']).optional(),
})

export const listMilestonesInput = z
  .object({
    ...parentInput,
    iids: iidList.optional(),
    state: z.enum([...milestoneStates, 'all']).default('all'),
    /** The exact title. */
    title: z.string().max(MAX_TITLE).optional(),
    /** Words that must all occur in the title or the description, ignoring case; `searchTitle` looks only in the title. */
    search: z.string().max(MAX_TITLE).optional(),
    searchTitle: z.string().max(MAX_TITLE).optional(),
    includeAncestors: z.boolean().optional(),
    includeParentMilestones: z.boolean().optional(),
    includeDescendants: z.boolean().optional(),
    updatedBefore: instant.optional(),
    updatedAfter: instant.optional(),
    /**
     * This parameter and the next two are compared with dates of the milestone. Milestones without such a date are left
     * out.
     */
    containingDate: dayOrInstant.optional(),
    startDate: dayOrInstant.optional(),
    endDate: dayOrInstant.optional(),
    ...pageInput,
  })
  .superRefine((input, context) => {
    if (input.includeAncestors !== undefined && input.includeParentMilestones !== undefined) {
      context.addIssue(problem('mutually_exclusive', { names: ['includeAncestors', 'includeParentMilestones'] }))
    }
    if ((input.startDate === undefined) !== (input.endDate === undefined)) {
      context.addIssue(problem('all_or_none', { names: ['startDate', 'endDate'] }))
    }
  }, acrossParameters)

/** Returns the error of dates that are in the wrong order. */
export const dateErrors = ({ startDate, dueDate }: MilestoneDraft): FieldErrors<typeof milestoneDraft> =>
  startDate === undefined || dueDate === undefined || isTooLate(dueDate) || dueDate > startDate
    ? {}
    : { dueDate: ['must be greater than start date'] }

/** Returns whether the due date has passed, in any state. A milestone due today has not expired. */
export function isMilestoneExpired({ dueDate }: Pick<Milestone, 'dueDate'>, nowMs: number): boolean {
  return dueDate !== undefined && Date.parse(dueDate) + DAY_MS <= nowMs
}

/** Returns whether the start date is in the future. A milestone that starts today is not upcoming. */
export function isMilestoneUpcoming({ startDate }: Pick<Milestone, 'startDate'>, nowMs: number): boolean {
  return startDate !== undefined && startDate > dayAt(nowMs)
}

/** Returns the path of the milestone's page, below the external URL. */
export const milestoneWebPath = ({ iid, parent }: Pick<Milestone, 'iid' | 'parent'>): string =>
  `${parentWebPath(parent)}/-/milestones/${iid}`
