import { z } from 'zod'
import { ApiError } from './api-error.ts'

/** One entry in the details of `invalid_field` and `unknown_field`. */
export interface FieldProblem {
  /** The dotted path, such as `limits.traces.day.bytes`. '' is the whole body. */
  readonly field: string
  readonly problem: string
  readonly [bound: string]: unknown
}

/** Parses a value, or throws `unknown_field` or `invalid_field` with all problems. The error repeats no part of the value. */
export function parseInput<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const problems = result.error.issues.flatMap((issue) => toFieldProblems(issue, value))
  throw inputError(problems)
}

export function inputError(problems: readonly FieldProblem[]): ApiError {
  const unknown = problems.some(({ problem }) => problem === 'unknown')
  const fields = [...new Set(problems.map(({ field }) => field))].filter((field) => field !== '').join(', ')
  const message = fields === '' ? 'The body must be a JSON object.' : `Invalid fields: ${fields}.`
  return new ApiError(unknown ? 'unknown_field' : 'invalid_field', message, problems)
}

/** Throws unless the time is in the future. A schema cannot check this, because it does not know the time. */
export function requireFuture(field: string, atMs: number | null | undefined, nowMs: number): void {
  if (atMs != null && atMs <= nowMs) throw inputError([{ field, problem: 'not_in_the_future' }])
}

function toFieldProblems(issue: z.core.$ZodIssue, value: unknown): FieldProblem[] {
  const field = issue.path.map(redactedName).join('.')
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => ({ field: [...issue.path, key].map(redactedName).join('.'), problem: 'unknown' }))
    case 'invalid_type':
      if (isMissing(issue.path, value)) return [{ field, problem: 'required' }]
      return [{ field, problem: 'wrong_type', expected: issue.expected }]
    case 'too_small':
      return [{ field, problem: hasLength(issue.origin) ? 'too_short' : 'too_small', min: Number(issue.minimum) }]
    case 'too_big':
      return [{ field, problem: hasLength(issue.origin) ? 'too_long' : 'too_big', max: Number(issue.maximum) }]
    case 'invalid_value':
      if (isMissing(issue.path, value)) return [{ field, problem: 'required' }]
      return [{ field, problem: 'not_one_of', allowed: issue.values }]
    case 'custom':
      return [{ field, problem: 'malformed', ...issue.params }]
    default:
      return [{ field, problem: 'malformed' }]
  }
}

/** The longest field name of the API. Messages show it, although they hide other names of 20 or more characters as possible secrets. */
const LONGEST_FIELD_NAME = 'client_certificate_sans'

/** Hides names that may be a secret pasted in the wrong place: nearly all field names are shorter than a secret. */
function redactedName(name: PropertyKey): string {
  const text = String(name)
  return text === LONGEST_FIELD_NAME || /^[\w-]{1,19}$/.test(text) ? text : '(a name that is not shown)'
}

const hasLength = (origin: string): boolean => origin === 'string' || origin === 'array'

function isMissing(path: readonly PropertyKey[], value: unknown): boolean {
  let at = value
  for (const key of path)
    at = typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined
  return path.length > 0 && at === undefined
}

const noControlCharacters = /^[^\p{Cc}\p{Cs}]*$/u

/** A trimmed line of `min` to `max` characters without control characters. Code points are counted, not UTF-16 units. */
export const singleLine = (min: number, max: number) =>
  z
    .string()
    .trim()
    .min(min)
    .superRefine((text, context) => {
      if ([...text].length > max) context.addIssue({ code: 'custom', params: { problem: 'too_long', max } })
      else if (!noControlCharacters.test(text))
        context.addIssue({ code: 'custom', params: { problem: 'control_character' } })
    })
    .meta({ maxLength: max })

/** Parses an RFC 3339 time with a zone into milliseconds since 1970. */
export const instant = z.iso
  .datetime({ offset: true, abort: true })
  .regex(/T\d{2}:\d{2}:\d{2}/)
  .transform((text) => Date.parse(text))

/** Parses a whole number from a query, where every value is text. */
export const numericText = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .pipe(z.int().min(min).max(max))
