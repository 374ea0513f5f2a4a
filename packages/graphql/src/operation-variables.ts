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
    const problems: Problem[] = []
    const coerced = coerceInputValue(value, type, (path, wrong, error) => {
      const isMissing = wrong === null || wrong === undefined
      problems.push({ path, explanation: isMissing ? notNull.explanation : explanationOf(error) })
    })
    if (problems.length > 0) errors.push(invalidValue(definition, type, value, problems))
    else values[name] = coerced
  }
  return { values, errors }
}

interface Problem {
  readonly path: readonly (string | number)[]
  readonly explanation: string
}

const notNull: Problem = { path: [], explanation: 'Expected value to not be null' }

/** What a scalar says of its value is the explanation; the library puts its own words before it. */
const explanationOf = ({ originalError, message }: GraphQLError): string => originalError?.message ?? message

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
