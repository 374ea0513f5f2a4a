import { z } from 'zod'
import { MAX_INTEGER } from '../../kit/common-fields.ts'
import {
  type AnyField,
  type Field,
  flag,
  int,
  list,
  maxCharacters,
  number,
  oneOf,
  text,
} from '../../kit/field-table.ts'
import { type Visibility, visibilities } from '../../model/access-level.ts'
import type { Setting, SettingCode, SettingFacts } from './setting.ts'
import { codedRules, codedValues, structures, VALUE } from './setting-code.ts'

/**
 * A row of application-settings.json. The member with the name of a type has the default; null means that the setting may
 * be null. A row without such a member has its field in `structures`.
 */
export interface SettingRow extends SettingFacts {
  readonly int?: number | null
  readonly number?: number
  readonly text?: string | null
  readonly flag?: boolean
  readonly visibility?: Visibility
  readonly texts?: readonly string[]
  /** Whether a setting with a default may be null. */
  readonly optional?: boolean
  /** The allowed integers. Another one is reported like a text that is not one of several. */
  readonly codes?: readonly [number, ...number[]]
  /** The least value. */
  readonly min?: number
  /** The value must be greater. */
  readonly above?: number
  /** The greatest value of an integer with a lower bound. Default: that of the database. */
  readonly max?: number
  readonly oneOf?: readonly unknown[]
  /** The greatest number of characters of a text. */
  readonly characters?: number
  /** Whether a text must be a URL. */
  readonly url?: boolean
  /** The greatest number of texts in a list. */
  readonly entries?: number
}

type Rule = (value: never) => string | false

/** A rule with a description of the values that it allows, for the documentation. */
const allows = (allowed: string, rule: Rule): Rule => Object.assign(rule, { allowed })

const MAX_ENTRY_CHARACTERS = 255

/** The rules that a member of a row sets, in the order in which they are reported. */
const rulesByMember: { readonly [Member in keyof SettingRow]?: (bound: NonNullable<SettingRow[Member]>) => Rule[] } = {
  min: (min) => [
    allows(`at least ${min}`, (value: number) => value < min && `must be greater than or equal to ${min}`),
  ],
  above: (bound) => [allows(`above ${bound}`, (value: number) => value <= bound && `must be greater than ${bound}`)],
  max: (max) => [allows(`at most ${max}`, atMost(max))],
  characters: (max) => [allows(`at most ${max} characters`, maxCharacters(max))],
  url: () => [
    allows(
      'a URL',
      (value: string) => !(URL.canParse(value) && /^https?:\/\/[^\s<>]+$/i.test(value)) && 'must be a valid URL',
    ),
  ],
  oneOf: (values) => [
    allows(values.join(', '), (value: unknown) => !values.includes(value) && 'is not included in the list'),
  ],
  entries: (max) => [
    allows(
      `at most ${max} entries of ${MAX_ENTRY_CHARACTERS} characters`,
      (texts: readonly string[]) => texts.length > max && `is too long (maximum is ${max} entries)`,
    ),
    (texts: readonly string[]) =>
      texts.some((each) => each.length > MAX_ENTRY_CHARACTERS) &&
      `entries cannot be larger than ${MAX_ENTRY_CHARACTERS} characters`,
  ],
}

const atMost = (max: number) => (value: number) => value > max && `must be less than or equal to ${max}`

const rulesIn = (name: string, row: SettingRow): readonly Rule[] => [
  ...Object.entries(rulesByMember).flatMap(([member, rules]) => {
    const bound = row[member as keyof SettingRow]
    return bound === undefined ? [] : (rules as (bound: unknown) => Rule[])(bound)
  }),
  ...(row.int !== undefined && (row.min ?? row.above) !== undefined && row.max === undefined
    ? [atMost(MAX_INTEGER)]
    : []),
  ...(codedRules[name] ?? []),
]

const codesIn = (codes: readonly [number, ...number[]]) =>
  z
    .int()
    .pipe(z.literal(codes))
    .meta({ enum: [...codes] })

function fieldIn(name: string, row: SettingRow): AnyField {
  const structure = (structures as Readonly<Record<string, AnyField>>)[name]
  if (structure !== undefined) return structure
  if (row.flag !== undefined) return flag(VALUE).default(row.flag)
  if (row.visibility !== undefined) return oneOf(VALUE, visibilities).default(row.visibility)
  if (row.texts !== undefined) return list(VALUE, z.string())
  if (row.number !== undefined) return number(VALUE).default(row.number)
  if (row.text !== undefined) return withDefault(text(VALUE), row.text, row)
  if (row.int === undefined) throw new TypeError(`The setting ${name} has no type`)
  return withDefault(row.codes === undefined ? int(VALUE) : int(VALUE).parse(codesIn(row.codes)), row.int, row)
}

function withDefault<Value>(field: Field<Value, typeof VALUE>, fallback: Value | null, { optional }: SettingRow) {
  if (fallback === null) return field.optional()
  return optional ? field.optional().default(fallback) : field.default(fallback)
}

/** Returns the setting that a row describes. */
export function readSetting(name: string, row: SettingRow): Setting {
  const { column, details } = fieldIn(name, row)
  const code: SettingCode | undefined = (codedValues as Readonly<Record<string, SettingCode>>)[name]
  const rules = [...details.rules, ...rulesIn(name, row)]
  // A plain object: the methods of a field would pass for facts of the same name, such as `secret`.
  // `value` and `name` of a field exist for the compiler only.
  return { column, details: { ...details, rules }, ...row, ...code } as unknown as Setting
}
