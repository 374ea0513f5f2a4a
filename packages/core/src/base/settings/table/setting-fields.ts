import { z } from 'zod'
import { MAX_INTEGER } from '../../kit/common-fields.ts'
import { flag, int, list, maxCharacters, number, oneOf, text } from '../../kit/field-table.ts'
import { visibilities } from '../../model/access-level.ts'
import { VALUE } from './setting.ts'

/** A rule with a description of the values that it allows, for the documentation. */
const allows = <Check extends object>(allowed: string, check: Check): Check & { readonly allowed: string } =>
  Object.assign(check, { allowed })

export const atLeast = (min: number) =>
  allows(`at least ${min}`, (value: number) => value < min && `must be greater than or equal to ${min}`)
export const above = (bound: number) =>
  allows(`above ${bound}`, (value: number) => value <= bound && `must be greater than ${bound}`)
export const atMost = (max: number) => {
  const check = (value: number) => value > max && `must be less than or equal to ${max}`
  return max === MAX_INTEGER ? check : allows(`at most ${max}`, check)
}
export const isOneOf = (values: readonly unknown[]) =>
  allows(values.join(', '), (value: unknown) => !values.includes(value) && 'is not included in the list')
const charactersUpTo = (max: number) => allows(`at most ${max} characters`, maxCharacters(max))

export const whole = (fallback: number) => int(VALUE).default(fallback)
/** An integer of at least `min`. */
export const from = (min: number, fallback: number, max: number = MAX_INTEGER) =>
  whole(fallback).check(atLeast(min), atMost(max))
/** An integer greater than zero. */
export const positive = (fallback: number) => whole(fallback).check(above(0), atMost(MAX_INTEGER))
/** An integer greater than zero, or null. */
export const positiveOrNull = () => int(VALUE).check(above(0), atMost(MAX_INTEGER)).optional()
/** An id, or null. */
export const idOrNull = () => int(VALUE).check(above(0), atMost(MAX_INTEGER)).optional()
/** One of several integers; another one is reported like a text that is not one of several. */
export const anyOf = (fallback: number, values: readonly [number, ...number[]]) =>
  whole(fallback).parse(
    z
      .int()
      .pipe(z.literal(values))
      .meta({ enum: [...values] }),
  )
export const decimal = (fallback: number) => number(VALUE).default(fallback)

export const on = () => flag(VALUE).default(true)
export const off = () => flag(VALUE).default(false)

export const visibility = () => oneOf(VALUE, visibilities).default('private')
/** A text of at most `max` characters. */
export const line = (max: number, fallback = '') => text(VALUE).default(fallback).check(charactersUpTo(max))
/** A text of at most `max` characters, or null. */
export const lineOrNull = (max: number) => text(VALUE).check(charactersUpTo(max)).optional()

const MAX_URL = 2_048
const URL_MESSAGE = 'must be a valid URL'
const isUrl = allows(
  'a URL',
  (value: string) => !(URL.canParse(value) && /^https?:\/\/[^\s<>]+$/i.test(value)) && URL_MESSAGE,
)
export const url = (fallback: string) => line(MAX_URL, fallback).check(isUrl)
export const urlOrNull = (max = MAX_URL) => lineOrNull(max).check(isUrl)

/** A list of texts. */
export const texts = (maxEntries: number, maxEntryCharacters = 255) =>
  list(VALUE, z.string()).check(
    allows(
      `at most ${maxEntries} entries of ${maxEntryCharacters} characters`,
      (entries: readonly string[]) => entries.length > maxEntries && `is too long (maximum is ${maxEntries} entries)`,
    ),
    (entries) =>
      entries.some((entry) => entry.length > maxEntryCharacters) &&
      `entries cannot be larger than ${maxEntryCharacters} characters`,
  )

/** Returns names for a message, which is limited because a request may contain thousands of them. */
export const listed = (names: readonly string[]): string => names.slice(0, 10).join(', ').slice(0, 1_000)
