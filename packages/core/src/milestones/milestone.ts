import { z } from 'zod'
import { DAY_MS, dayAt } from '../kit/day.ts'
import { pageInput } from '../kit/page.ts'
import { clearable, day, dayOrInstant, iidList, instant, namespaceRef } from '../kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../kit/parse-input.ts'
import type { Group } from '../model/group.ts'
import type { Project } from '../model/project.ts'
import type { Described } from '../operations/description-store.ts'

export interface Milestone {
  readonly id: number
  /** Unique within the parent. */
  readonly iid: number
  readonly parent: MilestoneParent
  readonly title: string
  readonly state: MilestoneState
  /** `YYYY-MM-DD`, as is `dueDate`. */
  readonly startDate: string | undefined
  readonly dueDate: string | undefined
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

export interface DescribedMilestone extends Milestone, Described {}

export type MilestoneParent = Pick<Group, 'kind' | 'id' | 'fullPath'> | Pick<Project, 'kind' | 'id' | 'fullPath'>

export const milestoneStates = ['active', 'closed'] as const
export type MilestoneState = (typeof milestoneStates)[number]

/**
 * Milestones without a due date come last in both directions, except before expired ones in `expired_last_due_date`.
 */
const milestoneOrders = ['due_date', 'expired_last_due_date', 'created_at', 'updated_at'] as const
export type MilestoneOrder = (typeof milestoneOrders)[number]
export const milestoneOrder = z.enum(milestoneOrders).default('due_date')

const TITLE_CHARACTERS = 255
const DESCRIPTION_CHARACTERS = 1_048_576

/** The fields that a user sets. */
export type MilestoneFields = Pick<DescribedMilestone, 'title' | 'description' | 'startDate' | 'dueDate'>
/** Error messages by field. */
export type MilestoneErrors = { -readonly [Field in keyof MilestoneFields]?: string[] }

/** Strips HTML tags, decodes entities, and trims white space. */
const title = z.string().transform((text) => decodeEntities(text.replace(/<[/!]?[a-z-][^<>]*>/gi, '')).trim())
/** Accepts dates after the year 9999, so that `validateMilestone` can reject them with GitLab's message. */
const anyDay = z.union([day, z.string().regex(/^\d{5,9}-\d{2}-\d{2}$/)])

const fields = {
  description: z.string().nullable().optional(),
  startDate: clearable(anyDay),
  dueDate: clearable(anyDay),
}

const parent = { parent: namespaceRef }
const one = { ...parent, milestoneId: z.int() }
export const milestoneInput = z.object(one)
export const pageOfMilestoneInput = z.object({ ...one, ...pageInput })
/** Accepts a string too, which answers `not_found` instead of a parameter error. */
export const removeMilestoneInput = z.object({ ...parent, milestoneId: z.union([z.int(), z.string()]) })
export const createMilestoneInput = z.object({ ...parent, title, ...fields })
export const updateMilestoneInput = z.object({
  ...one,
  title: title.optional(),
  ...fields,
  stateEvent: z.enum(['close', 'activate']).optional(),
})

/** Returns the fields after the change: `undefined` keeps a value, null clears it. */
export function withFields<Before extends MilestoneFields>(before: Before, input: FieldsInput): Before {
  const { title = before.title, description, startDate, dueDate } = input
  return {
    ...before,
    title,
    description: description === undefined ? before.description : (description ?? undefined),
    startDate: startDate === undefined ? before.startDate : (startDate ?? undefined),
    dueDate: dueDate === undefined ? before.dueDate : (dueDate ?? undefined),
  }
}
type FieldsInput = Pick<z.output<typeof updateMilestoneInput>, keyof MilestoneFields>

export const listMilestonesInput = z
  .object({
    ...parent,
    iids: iidList.optional(),
    state: z.enum([...milestoneStates, 'all']).default('all'),
    title: z.string().max(TITLE_CHARACTERS).optional(),
    search: z.string().max(TITLE_CHARACTERS).optional(),
    searchTitle: z.string().max(TITLE_CHARACTERS).optional(),
    includeAncestors: z.boolean().optional(),
    includeParentMilestones: z.boolean().optional(),
    includeDescendants: z.boolean().optional(),
    updatedBefore: instant.optional(),
    updatedAfter: instant.optional(),
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

/** Returns the errors of the fields, or an empty object. Uniqueness of the title is not checked here. */
export function validateMilestone(fields: MilestoneFields): MilestoneErrors {
  const { title, description = '', startDate = '', dueDate = '' } = fields
  const errors: MilestoneErrors = {}
  if (title === '') errors.title = ["can't be blank"]
  if ([...title].length > TITLE_CHARACTERS) errors.title = [tooLong(TITLE_CHARACTERS)]
  if (description.length > DESCRIPTION_CHARACTERS) errors.description = [tooLong(DESCRIPTION_CHARACTERS)]
  if (isTooLate(startDate)) errors.startDate = [tooLate]
  if (isTooLate(dueDate)) errors.dueDate = [tooLate]
  else if (dueDate !== '' && dueDate <= startDate) errors.dueDate = ['must be greater than start date']
  return errors
}

/** Returns whether the due date has passed, in any state. A milestone due today has not expired. */
export function isMilestoneExpired({ dueDate }: Pick<Milestone, 'dueDate'>, nowMs: number): boolean {
  return dueDate !== undefined && Date.parse(dueDate) + DAY_MS <= nowMs
}

/** Returns whether the start date is in the future. A milestone that starts today is not upcoming. */
export function isMilestoneUpcoming({ startDate }: Pick<Milestone, 'startDate'>, nowMs: number): boolean {
  return startDate !== undefined && startDate > dayAt(nowMs)
}

const LAST_DAY = '9999-12-31'
const isTooLate = (date: string) => date.length > LAST_DAY.length
const tooLate = `date must not be after ${LAST_DAY}`
const tooLong = (characters: number) => `is too long (maximum is ${characters} characters)`

const entities = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }))

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|([a-z]+));/gi, (entity, decimal, hex, name) => {
    if (name !== undefined) return entities.get(name) ?? entity
    const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16)
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : entity
  })
}
