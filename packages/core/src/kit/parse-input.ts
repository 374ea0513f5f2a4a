import type { z } from 'zod'
import { DomainError, type ParameterProblem } from './domain-error.ts'

/**
 * @throws DomainError `parameters`, with everything that is wrong, in the order of the schema's keys; rules about several of
 * them come last
 */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input, { reportInput: true })
  if (parsed.success) return parsed.data
  const order = keysOf(schema)
  const placeOf = ({ path }: ParameterProblem) => (path.length === 0 ? order.length : order.indexOf(String(path[0])))
  const problems = parsed.error.issues.map(problemOf).toSorted((a, b) => placeOf(a) - placeOf(b))
  throw new DomainError({ code: 'parameters', problems })
}

/** Returns the keys of an object schema, also where its output is transformed. */
function keysOf(schema: z.ZodType): string[] {
  const object: object = 'in' in schema ? (schema.in as object) : schema
  return 'shape' in object ? Object.keys(object.shape as object) : []
}

/** For `superRefine`: says which of the kit's problems it is. */
export function problem(
  kind: ParameterProblem['problem'],
  { path = [], names }: { path?: (string | number)[]; names?: readonly string[] } = {},
) {
  return { code: 'custom' as const, path, params: { problem: kind, names } }
}

/**
 * Second argument of the `superRefine` of an object, for a rule about which parameters come together: it is asked also when
 * one of them is wrong by itself. The rule may rely on what is there, not on what it is.
 */
export const acrossParameters = {
  when: ({ value }: { value: unknown }) => typeof value === 'object' && value !== null,
}

function problemOf(issue: z.core.$ZodIssue): ParameterProblem {
  const path = issue.path as (string | number)[]
  switch (issue.code) {
    case 'invalid_type':
    case 'invalid_union':
      return { path, problem: issue.input === undefined ? 'missing' : 'invalid' }
    case 'too_small':
      return { path, problem: issue.origin === 'string' || issue.origin === 'array' ? 'empty' : 'invalid' }
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
