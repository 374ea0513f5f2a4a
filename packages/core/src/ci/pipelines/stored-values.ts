/** The form in which values of a record are stored. */

/** Longer texts are truncated. */
const MAX_TEXT_LENGTH = 1_024
const MAX_URL_LENGTH = 2_048
/** The longest duration that is stored, so that GraphQL can return it as an `Int`. */
const MAX_SECONDS = 1_000_000_000

export const storedText = (text: string | undefined, maxLength = MAX_TEXT_LENGTH): string | undefined =>
  text === undefined ? undefined : replaceInvalid(text.slice(0, maxLength))

/** Returns the texts of a list, up to a number of them. */
export const storedTexts = (texts: readonly string[], maxItems: number): string[] =>
  texts.slice(0, maxItems).map((text) => replaceInvalid(text.slice(0, MAX_TEXT_LENGTH)))

/** Replaces null characters and lone surrogates, which neither database can store. */
export const replaceInvalid = (text: string): string => text.replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd')

/** Returns an id or a size; `undefined` for a text, and for an integer that JSON cannot represent exactly. */
export function storedInteger(integer: bigint | string | undefined): number | undefined {
  const value = typeof integer === 'bigint' ? Number(integer) : undefined
  return Number.isSafeInteger(value) ? value : undefined
}

/** Returns a time in milliseconds. */
export const storedMs = (ns: bigint | undefined): number | undefined =>
  ns === undefined || ns < 1_000_000n ? undefined : Number(ns / 1_000_000n)

/** Returns a duration; a longer one is left out. */
export const storedSeconds = (seconds: number | undefined): number | undefined =>
  seconds !== undefined && seconds <= MAX_SECONDS ? seconds : undefined

/** Returns a URL unchanged; `undefined` if it is too long or not one of HTTP. */
export function storedUrl(given: string | undefined): string | undefined {
  if (given === undefined || given.length > MAX_URL_LENGTH) return undefined
  const url = replaceInvalid(given)
  return /^https?:\/\/\S+$/i.test(url) ? url : undefined
}

/** Returns the section, or `undefined` if all its members are missing. */
export const unlessEmpty = <Section extends object>(section: Section | undefined): Section | undefined =>
  section && Object.values(section).some((member) => member !== undefined) ? section : undefined
