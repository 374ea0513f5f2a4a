import type { z } from 'zod'
import { DomainError, type ParameterProblem } from './domain-error.ts'

/** The parameters that are one line wherever they are shown: in lists, in the subjects of mails and in headers. */
const singleLines = ['title', 'name'] as const
/** A longer text exceeds every limit of titles and names, so its schema refuses it. Splitting megabytes would take long. */
const MAX_SINGLE_LINE_LENGTH = 65_536

/**
 * Parses an input with its schema. Line breaks in titles and names become spaces; at their beginning and end they are removed.
 *
 * @throws DomainError `parameters`, with all problems in the order of the schema's keys; problems that concern several
 *   parameters come last
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(withSingleLines(input), { reportInput: true })
  if (parsed.success) return parsed.data
  const order = keysOf(schema)
  const placeOf = ({ path }: ParameterProblem) => (path.length === 0 ? order.length : order.indexOf(String(path[0])))
  const problems = parsed.error.issues.map(problemOf).toSorted((a, b) => placeOf(a) - placeOf(b))
  throw new DomainError({ code: 'parameters', problems })
}

function withSingleLines(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input
  let members = input as Readonly<Record<string, unknown>>
  for (const name of singleLines) {
    const value = members[name]
    if (typeof value !== 'string' || value.length > MAX_SINGLE_LINE_LENGTH || !/[\r\n]/.test(value)) continue
    members = { ...members, [name]: toSingleLine(value) }
  }
  return members
}

/** Replaces line breaks by spaces; removes them at the beginning and the end. */
export const toSingleLine = (text: string): string =>
  text
    .split(/[\r\n]+/)
    .filter((line) => line !== '')
    .join(' ')

/** Returns the keys of an object schema, even if its output is transformed. */
function keysOf(schema: z.ZodType): string[] {
  const object: object = 'in' in schema ? (schema.in as object) : schema
  return 'shape' in object ? Object.keys(object.shape as object) : []
}

/** Returns an issue for `superRefine` that becomes a problem of this kind. */
export function problem(
  kind: ParameterProblem['problem'],
  { path = [], names }: { path?: (string | number)[]; names?: readonly string[] } = {},
) {
  return { code: 'custom' as const, path, params: { problem: kind, names } }
}

/**
 * The second argument of an object's `superRefine`, for a rule about which parameters are present together. The rule
 * then runs even if one of the parameters is invalid, so it must not rely on the types of the values.
 */
export const acrossParameters = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
}

function problemOf(issue: z.core.$ZodIssue): ParameterProblem {
  const path = issue.path as (string | number)[]
  switch (issue.code) {
    case 'invalid_type':
      // A list that is required and null is like one without elements.
      if (issue.expected === 'array' && issue.input === null) return { path, problem: 'empty' }
      return { path, problem: issue.input === undefined ? 'missing' : 'invalid' }
    case 'invalid_union':
      return { path, problem: issue.input === undefined ? 'missing' : 'invalid' }
    case 'too_small':
      return { path, problem: issue.origin === 'string' || issue.origin === 'array' ? 'empty' : 'invalid' }
    case 'too_big':
      return issue.origin === 'string'
        ? { path, problem: 'too_long', max: Number(issue.maximum) }
        : { path, problem: 'invalid' }
    case 'invalid_value':
      return { path, problem: issue.input === undefined ? 'missing' : 'unknown_value' }
    case 'custom': {
      const { problem: kind, names } = (issue.params ?? {}) as Partial<ParameterProblem>
      return { path, problem: kind ?? 'invalid', ...(names && { names }) }
    }
    default:
      return { path, problem: 'invalid' }
  }
}
