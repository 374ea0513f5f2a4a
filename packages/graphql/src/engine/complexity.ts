import {
  type FieldNode,
  type GraphQLField,
  type GraphQLObjectType,
  getArgumentValues,
  getNamedType,
  isAbstractType,
  isObjectType,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql'
import { MAX_PAGE_SIZE } from '../schema/connection.ts'
import type { Cost } from '../schema/cost.ts'
import { type SelectionContext, selectedFields } from './selected-fields.ts'

export const MAX_COMPLEXITY = { anonymous: 200, signedIn: 250 } as const

/**
 * Returns the complexity of an operation with the given values of its variables.
 *
 * @throws TraversalBudgetExceeded
 */
export function scoreOf(context: SelectionContext, operation: OperationDefinitionNode): number {
  const { schema } = context

  const childrenScore = (type: GraphQLObjectType, sets: readonly SelectionSetNode[]): number => {
    let sum = 0
    for (const nodes of selectedFields(context, type, sets).values()) {
      sum += fieldScore(type, nodes)
    }
    return sum
  }

  const fieldScore = (parent: GraphQLObjectType, nodes: readonly FieldNode[]): number => {
    const field = fieldOf(context, parent, nodes[0]!)
    if (field === undefined) return 1
    const type = getNamedType(field.type)
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? [])
    const possible = isObjectType(type) ? [type] : isAbstractType(type) ? schema.getPossibleTypes(type) : []
    const scores = sets.length === 0 ? [] : possible.map((each) => childrenScore(each, sets))
    const children = scores.length === 0 ? 0 : Math.max(...scores)
    const args = argumentsOf(context, field, nodes[0]!)
    if (args === undefined) return children
    return costOf(field.extensions.cost as Cost | undefined, children, args, type.name.endsWith('Connection'))
  }

  const root = schema.getRootType(operation.operation)
  return root == null ? 0 : childrenScore(root, [operation.selectionSet])
}

export function costOf(
  cost: Cost | undefined,
  children: number,
  args: Readonly<Record<string, unknown>>,
  isConnection: boolean,
): number {
  const repository = cost?.repository ? 1 : 0
  if (!cost?.resolver) return 1 + repository + children
  const has = (name: string) => args[name] !== undefined && args[name] !== null
  const extras = Object.entries(cost.arguments ?? {}).map(([name, extra]) => (has(name) ? extra : 0))
  const own =
    1 +
    (has('sort') ? 1 : 0) +
    (has('search') ? 5 : 0) +
    (cost.anyArgument !== undefined && Object.keys(args).some(has) ? cost.anyArgument : 0) +
    extras.reduce((sum, extra) => sum + extra, 0) +
    repository
  const total = children + own
  if (!isConnection) return total
  const sizes = [args.first, args.last].filter((size) => typeof size === 'number')
  const size = Math.min(...sizes, MAX_PAGE_SIZE)
  const factor = has('iid') || has('iids') ? 0 : 0.01
  return Math.floor(total + total * size * factor)
}

function fieldOf(
  { schema }: SelectionContext,
  parent: GraphQLObjectType,
  { name: { value: name } }: FieldNode,
): GraphQLField<unknown, unknown> | undefined {
  if (parent === schema.getQueryType()) {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef
  }
  return parent.getFields()[name]
}

/** Returns the arguments, or `undefined` if they are invalid. In that case the request fails on them later. */
function argumentsOf(
  { variables }: SelectionContext,
  field: GraphQLField<unknown, unknown>,
  node: FieldNode,
): Record<string, unknown> | undefined {
  try {
    return getArgumentValues(field, node, variables)
  } catch {
    return undefined
  }
}
