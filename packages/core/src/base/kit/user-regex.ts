import { RE2JS, RE2JSException } from 're2js'

/** A regular expression of a user may have this many characters, and repeat its parts this often in total. */
export const MAX_REGEX = 255
const MAX_REPEATS = 100

/**
 * Returns a regular expression that a user wrote, in the syntax of RE2. Matching takes time in proportion to the text.
 * The limits bound the size of the compiled expression, so that compiling takes milliseconds.
 *
 * @returns `undefined` if the expression is not valid, or too large
 */
export function compiledRegex(expression: string): RE2JS | undefined {
  if (expression.length > MAX_REGEX || repeatsIn(expression) > MAX_REPEATS) return undefined
  try {
    return RE2JS.compile(expression)
  } catch (error) {
    if (error instanceof RE2JSException) return undefined
    throw error
  }
}

/** Returns the sum of the numbers of all `{n}` and `{n,m}`. */
const repeatsIn = (expression: string): number =>
  [...expression.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].reduce(
    (sum, [, least, most]) => sum + Math.max(Number(least), Number(most ?? 0)),
    0,
  )
