import { z } from 'zod'
import { instantMs } from '../../base/kit/parameter-schemas.ts'

/** The schemas of the values in a record. An unusable optional value is read as a missing one. */

/** Longer texts are truncated. */
const MAX_TEXT_LENGTH = 1_024
/** The longest duration that the converter reads: 2^63 nanoseconds. */
const MAX_SECONDS = 2 ** 63 / 1e9
/** The longest duration that is stored, so that GraphQL can return it as an `Int`. */
const MAX_STORED_SECONDS = 1_000_000_000

/**
 * Reads an unusable optional value as `undefined`. Null is handled first because it is frequent, and a failed parse is
 * slow.
 */
export const lenient = <Schema extends z.ZodType>(schema: Schema) =>
  schema
    .nullish()
    .transform((value) => value ?? undefined)
    .catch(undefined)
export const textUpTo = (maxLength: number) => lenient(z.string().transform((value) => cleanText(value, maxLength)))

export const id = z.int().min(1)
export const someId = lenient(id)
/** The id of another thing, as a number or in decimal digits, as the converter reads it. */
export const someIdOrDigits = lenient(
  z.union([
    id,
    z
      .string()
      .regex(/^[1-9]\d{0,15}$/)
      .transform(Number)
      .pipe(id),
  ]),
)
export const text = textUpTo(MAX_TEXT_LENGTH)
export const flag = lenient(z.boolean())
export const count = lenient(z.int().min(0))
export const seconds = lenient(z.number().min(0).max(MAX_SECONDS))
/** Returns a duration as it is stored: a longer one is left out. */
export const storedSeconds = (value: number | undefined): number | undefined =>
  value !== undefined && value <= MAX_STORED_SECONDS ? value : undefined

export const moment = lenient(z.string().transform(momentMs))

/** Reads a list of texts, of which unusable ones are left out; `undefined` if it is no list. */
export const textsUpTo = (maxItems: number) =>
  lenient(z.array(text)).transform((texts) => texts?.filter((item) => item !== undefined).slice(0, maxItems))

/** Returns the section, or `undefined` if all its members are missing. */
export const unlessEmpty = <Section extends object>(section: Section | undefined): Section | undefined =>
  section && Object.values(section).some((member) => member !== undefined) ? section : undefined

/** Returns the truncated text without invalid characters, or `undefined` for a blank one. */
export function cleanText(value: string, maxLength = MAX_TEXT_LENGTH): string | undefined {
  return /[^\s\0]/.test(value) ? replaceInvalid(value.slice(0, maxLength)) : undefined
}

/** Replaces null characters and lone surrogates, which neither database can store. */
export const replaceInvalid = (value: string): string => value.replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd')

/** The notations of times in hooks, as the converter reads them. They have a time of day, unlike parameters of lists. */
const hookTime =
  /^\d{4}-\d\d-\d\d[ Tt](?:[01]\d|2[0-3]):\d\d(?::\d\d(?:\.\d{1,9})?)?(?: ?(?:[Zz]|UTC|[+-]\d\d(?::?\d\d)?))?$/
/** An offset of hours alone, such as `+01`. */
const hourOffset = /[+-]\d\d$/
/** The latest time that the converter exports: 2^63 nanoseconds, which is in 2262. */
const MAX_MS = Math.floor(2 ** 63 / 1e6)

/**
 * Returns the time in milliseconds. It is `undefined` for times before 1970, because relays send the year 1 for a missing
 * time, and for times after 2262, which the converter does not read.
 */
function momentMs(value: string): number | undefined {
  if (!hookTime.test(value)) return undefined
  const ms = instantMs(hourOffset.test(value) ? `${value}:00` : value)
  return ms !== undefined && ms > 0 && ms <= MAX_MS ? ms : undefined
}
