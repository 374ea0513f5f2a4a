import { z } from 'zod'
import type { Described } from '../kit/description-store.ts'
import { pageInput } from '../kit/page.ts'
import { clearable, namespaceRef } from '../kit/parameter-schemas.ts'
import { acrossParameters, problem } from '../kit/parse-input.ts'

/** A label of a group or project; exactly one of the two ids is set. */
export interface Label {
  readonly id: number
  readonly groupId: number | undefined
  readonly projectId: number | undefined
  /** Unique in its group or project, and different from the names inherited from groups above. */
  readonly name: string
  /** `#rgb` or `#rrggbb` */
  readonly color: string
  /** A lower number is more urgent; `undefined` sorts last. */
  readonly priority: number | undefined
  readonly createdAtMs: number
}

export interface DescribedLabel extends Label, Described {}

/** The color of labels that are created when they are first used. */
export const DEFAULT_COLOR = '#6699cc'

const labelName = z.string().trim().min(1).max(255)
const labelColor = z.string().trim().max(255)
const labelDescription = z.string().max(1_048_576)
/** Limited to what a column of 32 bits can store. */
const labelPriority = z.int().min(0).max(2_147_483_647)

/** A reference to a label: its id or its name. */
const labelRef = z.union([z.int(), z.string().max(255)])

/** Names of labels: a list, in which a text can contain several names, separated by commas. */
export const labelNames = z
  .array(z.string().max(25_600))
  .max(100)
  .transform((texts) => [
    ...new Set(
      texts
        .flatMap((text) => text.split(','))
        .map((name) => name.trim())
        .filter((name) => name !== ''),
    ),
  ])
  .refine((names) => names.length <= 100 && names.every((name) => name.length <= 255))

const parent = { parent: namespaceRef }
const withInherited = { includeAncestorGroups: z.boolean().default(true) }

export const listLabelsInput = z.object({
  ...parent,
  search: z.string().max(255).optional(),
  ...withInherited,
  ...pageInput,
})

/** The parameters of lists for many groups or projects. */
const labelsOfEach = {
  title: z.string().max(255).optional(),
  search: z.string().max(255).optional(),
  searchIn: z.array(z.enum(['name', 'description'])).optional(),
  includeAncestorGroups: z.boolean().default(false),
  archived: z.boolean().default(false),
}
export const labelsOfEachInput = z.object(labelsOfEach)

/** The parameters for groups, which can include the labels of everything below them. */
export const labelsOfEachGroupInput = z.object({
  ...labelsOfEach,
  includeDescendantGroups: z.boolean().default(false),
  onlyGroupLabels: z.boolean().default(false),
})

export const labelOfEachInput = z.object({ title: z.string().max(255) })

export const labelInput = z.object({ ...parent, labelId: labelRef, ...withInherited })

export const createLabelInput = z.object({
  ...parent,
  name: labelName,
  color: labelColor,
  description: clearable(labelDescription),
  priority: clearable(labelPriority),
})

/** Some clients put the label into the path, others into query or body as `name`. */
const named = { ...parent, labelId: labelRef.optional(), name: z.string().max(255).optional() }

const changes = {
  newName: labelName.optional(),
  color: labelColor.optional(),
  description: clearable(labelDescription),
  priority: clearable(labelPriority),
}
const changeNames = Object.keys(changes) as (keyof typeof changes)[]

export const updateLabelInput = z
  .object({ ...named, ...changes })
  .superRefine(requireNamed, acrossParameters)
  .superRefine((input, context) => {
    if (changeNames.every((name) => input[name] === undefined)) {
      context.addIssue(problem('at_least_one', { names: changeNames }))
    }
  }, acrossParameters)

export const removeLabelInput = z.object(named).superRefine(requireNamed, acrossParameters)

type Named = z.output<z.ZodObject<typeof named>>

function requireNamed({ labelId, name }: Named, context: z.RefinementCtx): void {
  if (labelId === undefined && name === undefined) {
    context.addIssue(problem('exactly_one', { names: ['labelId', 'name'] }))
  }
}

/** Returns the problems of a label by attribute; empty if it is valid. */
export function validateLabel({ name, color }: { name?: string | undefined; color?: string | undefined }) {
  return {
    ...(name?.includes(',') && { name: ['is invalid'] }),
    ...(color !== undefined && !colorForm.test(color) && { color: ['must be a valid color code'] }),
  }
}

const colorForm = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i

/** Returns the text color that is easier to read on a background: light if its luma is dark. */
export function textColorOn(color: string): '#FFFFFF' | '#1F1E24' {
  const digits = color.length === 4 ? [...color.slice(1)].map((digit) => digit + digit).join('') : color.slice(1)
  const [red, green, blue] = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)) as [
    number,
    number,
    number,
  ]
  return 0.299 * red + 0.587 * green + 0.114 * blue < 150 ? '#FFFFFF' : '#1F1E24'
}
