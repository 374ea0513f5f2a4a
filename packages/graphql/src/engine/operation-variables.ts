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
import { hasOnlyStorableText } from './storable-text.ts'

interface Coerced {
  readonly values: Readonly<Record<string, unknown>>
  readonly errors: readonly GraphQLError[]
}

/** Converts the values of an operation's variables to the types that it declares for them. */
export function coerceVariables(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
  input: Readonly<Record<string, unknown>>,
): Coerced {
  const values: Record<string, unknown> = {}
  const errors: GraphQLError[] = []
  for (const definition of variableDefinitions) {
    const name = definition.variable.name.value
    const type = typeFromAST(schema, definition.type) as GraphQLInputType | undefined
    // Validation has reported the unknown type.
    if (!isInputType(type)) continue
    if (!Object.hasOwn(input, name)) {
      if (definition.defaultValue !== undefined) values[name] = valueFromAST(definition.defaultValue, type)
      else if (isNonNullType(type)) errors.push(invalidValue(definition, type, null, [notNull]))
      continue
    }
    const value = input[name]
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
  input: unknown,
  type: GraphQLInputType,
): { readonly value: unknown } | { readonly problems: readonly Problem[] } {
  if (!hasOnlyStorableText(input)) return { problems: [{ path: [], explanation: 'Text that cannot be stored' }] }
  const problems: Problem[] = []
  try {
    const value = coerceInputValue(input, type, (path, badValue, error) => {
      problems.push(problemOf(path, badValue, error))
      if (problems.length === MAX_PROBLEMS) throw new TooManyProblems()
    })
    return problems.length === 0 ? { value } : { problems }
  } catch (error) {
    if (error instanceof TooManyProblems) return { problems }
    throw error
  }
}

class TooManyProblems extends Error {
  override readonly name = 'TooManyProblems'
}

/** Finds the path of a problem. For a member of an input object, the library names the member in its message only. */
function problemOf(path: Problem['path'], value: unknown, error: GraphQLError): Problem {
  if (value === null || value === undefined) return { path, explanation: notNull.explanation }
  const [, missing] = /^Field "(\w+)" of required type .* was not provided\.$/.exec(error.message) ?? []
  if (missing !== undefined) return { path: [...path, missing], explanation: notNull.explanation }
  const [, unknown] = /^Field "(\w+)" is not defined by type /.exec(error.message) ?? []
  if (unknown !== undefined) return { path: [...path, unknown], explanation: 'Field is not defined' }
  // The library adds a prefix to the message of a scalar; the original message is the explanation.
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
