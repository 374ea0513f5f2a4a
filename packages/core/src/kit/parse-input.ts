import type { z } from 'zod'
import { DomainError, type ParameterProblem } from './domain-error.ts'

/** @throws DomainError `parameters`, with everything that is wrong, in the order of the schema's keys */
export function parseInput<Schema extends z.ZodType>(schema: Schema, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input, { reportInput: true })
  if (parsed.success) return parsed.data
  const order = 'shape' in schema ? Object.keys(schema.shape as object) : []
  const problems = parsed.error.issues
    .map(problemOf)
    .toSorted((a, b) => order.indexOf(String(a.path[0])) - order.indexOf(String(b.path[0])))
  throw new DomainError({ code: 'parameters', problems })
}

/** For `superRefine`: says which of the kit's problems it is. */
export function problem(
  kind: ParameterProblem['problem'],
  { path = [], names }: { path?: (string | number)[]; names?: readonly string[] } = {},
) {
  return { code: 'custom' as const, path, params: { problem: kind, names } }
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
      return { path, problem: issue.input === undefined ? 'missing' : 'not_a_value' }
    case 'custom': {
      const { problem: kind, names } = (issue.params ?? {}) as Partial<ParameterProblem>
      return { path, problem: kind ?? 'invalid', ...(names && { names }) }
    }
    default:
      return { path, problem: 'invalid' }
  }
}
