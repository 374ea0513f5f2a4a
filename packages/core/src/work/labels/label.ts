import { z } from 'zod'
import { bounded, MAX_INTEGER } from '../../base/kit/common-fields.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import {
  changesOf,
  id,
  MAX_LISTED_TEXT,
  matches,
  maxLength,
  type ObjectOf,
  parametersOf,
  text,
  time,
} from '../../base/kit/field-table.ts'
import { pageInput } from '../../base/kit/page.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import { parentFields } from '../../base/model/parent.ts'
import { comparedFields, type RecordedKind } from '../../base/operations/record-change.ts'
import { parentInput } from '../../identity/parents/parent-operations.ts'
import { colorCodeOf } from './color-names.ts'

/** The fields that a user sets. */
export const labelDraft = {
  /** Unique in its group or project, and different from the names inherited from groups above. */
  name: text('name')
    .parse(z.string().trim().min(1).max(255))
    .check((name) => name.includes(',') && errorTexts.invalid),
  /** `#rgb` or `#rrggbb`; the name of a CSS color becomes its code. */
  color: text('color')
    .parse(z.string().trim().max(255).transform(colorCodeOf))
    .check(matches(/^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i, 'must be a valid color code')),
  /** An empty text is kept, as on GitLab. */
  description: text('description').check(maxLength(MAX_LISTED_TEXT)).optional().parse(z.string().nullish()),
  /** A lower number is more urgent; a missing one sorts last. Limited to what a column of 32 bits can store. */
  priority: bounded('priority', 0, MAX_INTEGER).optional(),
}

const { description, ...listed } = labelDraft
/** The fields in lists. */
export const labelFields = { id: id(), ...parentFields, ...listed, createdAtMs: time('created_at_ms') }
export const describedLabelFields = { ...labelFields, description }

/** A label of a group or project; exactly one of the two ids is set. */
export interface Label extends ObjectOf<typeof labelFields> {}
export interface DescribedLabel extends ObjectOf<typeof describedLabelFields> {}
export type LabelDraft = ObjectOf<typeof labelDraft>

export const labelEvents: RecordedKind<DescribedLabel> = {
  noun: 'label',
  compared: comparedFields(describedLabelFields),
  detailsOf: ({ name }) => ({ name }),
}

/** The color of labels that are created when they are first used. */
export const DEFAULT_COLOR = '#6699cc'

/** A reference to a label: its id or its name. */
const labelRef = z.union([z.int(), z.string().max(255)])

/** A list of label names. Each text in it can contain several names, separated by commas. */
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

const withInherited = { includeAncestorGroups: z.boolean().default(true) }

export const listLabelsInput = z.object({
  ...parentInput,
  search: z.string().max(255).optional(),
  ...withInherited,
  /** Includes the labels of groups below a group and, unless `onlyGroupLabels` is set, those of projects. */
  includeDescendantGroups: z.boolean().default(false),
  onlyGroupLabels: z.boolean().default(true),
  ...pageInput,
})

/** The parameters of lists for many groups or projects. */
export const labelsOfEachInput = z.object({
  title: z.string().max(255).optional(),
  search: z.string().max(255).optional(),
  searchIn: z.array(z.enum(['name', 'description'])).optional(),
  includeAncestorGroups: z.boolean().default(false),
  archived: z.boolean().default(false),
  includeDescendantGroups: z.boolean().default(false),
  onlyGroupLabels: z.boolean().default(false),
})

export const labelOfEachInput = z.object({ title: z.string().max(255) })

export const labelInput = z.object({ ...parentInput, labelId: labelRef, ...withInherited })

export const createLabelInput = z.object({ ...parentInput, ...parametersOf(labelDraft) })

/** Some clients put the label into the path, others into query or body as `name`. */
const named = { ...parentInput, labelId: labelRef.optional(), name: z.string().max(255).optional() }

const { name: newName, ...otherChanges } = changesOf(labelDraft)
const changes = { newName, ...otherChanges }
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

/** Returns the text color that is easier to read on a background: light if its luma is dark. */
export function textColorOn(color: string): '#FFFFFF' | '#1F1E24' {
  const digits = color.length === 4 ? [...color.slice(1)].map((digit) => digit + digit).join('') : color.slice(1)
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16))
  return 0.299 * red + 0.587 * green + 0.114 * blue < 150 ? '#FFFFFF' : '#1F1E24'
}
