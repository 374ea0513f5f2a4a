import {
  coerceInputValue,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputType,
  isNonNullType,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
  valueFromAST,
} from 'graphql'
import { isSoundThroughout } from './sound-text.ts'

export interface Coerced {
  readonly values: Readonly<Record<string, unknown>>
  readonly errors: readonly GraphQLError[]
}

/**
 * The values of an operation's variables, as its arguments get them.
 *
 * @see spec/graphql-contract.md 4.1
 */
export function coerceVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  given: Readonly<Record<string, unknown>>,
): Coerced {
  const values: Record<string, unknown> = {}
  const errors: GraphQLError[] = []
  for (const definition of variableDefinitions) {
    const name = definition.variable.name.value
    const type = typeFromAST(schema, definition.type) as GraphQLInputType | undefined
    // Validation has said so.
    if (!isInputType(type)) continue
    if (!Object.hasOwn(given, name)) {
      if (definition.defaultValue !== undefined) values[name] = valueFromAST(definition.defaultValue, type)
      else if (isNonNullType(type)) errors.push(invalidValue(definition, type, null, [notNull]))
      continue
    }
    const value = given[name]
    const read = readValue(value, type)
    if ('problems' in read) errors.push(invalidValue(definition, type, value, read.problems))
    else values[name] = read.value
  }
  return { values, errors }
}

interface Problem {
  readonly path: readonly (string | number)[]
  readonly explanation: string
}

const notNull: Problem = { path: [], explanation: 'Expected value to not be null' }
const MAX_PROBLEMS = 5

function readValue(
  given: unknown,
  type: GraphQLInputType,
): { readonly value: unknown } | { readonly problems: readonly Problem[] } {
  if (!isSoundThroughout(given)) return { problems: [{ path: [], explanation: 'Text that cannot be stored' }] }
  const problems: Problem[] = []
  try {
    const value = coerceInputValue(given, type, (path, wrong, error) => {
      problems.push(problemOf(path, wrong, error))
      if (problems.length === MAX_PROBLEMS) throw new EnoughProblems()
    })
    return problems.length === 0 ? { value } : { problems }
  } catch (error) {
    if (error instanceof EnoughProblems) return { problems }
    throw error
  }
}

class EnoughProblems extends Error {
  override readonly name = 'EnoughProblems'
}

/** The library tells of members of an input in its sentence only, and of the input as their place. */
function problemOf(path: Problem['path'], wrong: unknown, error: GraphQLError): Problem {
  if (wrong === null || wrong === undefined) return { path, explanation: notNull.explanation }
  const [, missing] = /^Field "(\w+)" of required type .* was not provided\.$/.exec(error.message) ?? []
  if (missing !== undefined) return { path: [...path, missing], explanation: notNull.explanation }
  const [, unknown] = /^Field "(\w+)" is not defined by type /.exec(error.message) ?? []
  if (unknown !== undefined) return { path: [...path, unknown], explanation: 'Field is not defined' }
  // What a scalar says of its value is the explanation; the library puts its own words before it.
  return { path, explanation: error.originalError?.message ?? error.message }
}

function invalidValue(
  definition: VariableDefinitionNode,
  type: GraphQLInputType,
  value: unknown,
  problems: readonly Problem[],
): GraphQLError {
  const inside = problems.filter(({ path }) => path.length > 0)
  const places = inside.map(({ path, explanation }) => `${path.join('.')} (${explanation})`).join(', ')
  return new GraphQLError(
    `Variable $${definition.variable.name.value} of type ${String(type)} was provided invalid value${places && ` for ${places}`}`,
    { nodes: definition, extensions: { value, problems } },
  )
}
