import {
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLIncludeDirective,
  type GraphQLObjectType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  isAbstractType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  typeFromAST,
} from 'graphql'
import type { TraversalBudget } from './traversal-budget.ts'

/** The schema and the parts of a document that are needed to find the fields of its selections. */
export interface SelectionContext {
  readonly schema: GraphQLSchema
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  readonly variables: Readonly<Record<string, unknown>>
  readonly traversal: TraversalBudget
}

/** Returns the fields of an object that the selection sets select, by their keys in the response. */
export function selectedFields(
  context: SelectionContext,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): ReadonlyMap<string, readonly FieldNode[]> {
  const found = new Map<string, FieldNode[]>()
  const spread = new Set<string>()
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      context.traversal.spend()
      if (!isIncluded(context, selection)) continue
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value
        const same = found.get(key)
        if (same === undefined) found.set(key, [selection])
        else same.push(selection)
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        if (appliesTo(context, type, selection.typeCondition?.name.value)) collect(selection.selectionSet)
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value)
        const fragment = context.fragments[selection.name.value]
        if (fragment && appliesTo(context, type, fragment.typeCondition.name.value)) collect(fragment.selectionSet)
      }
    }
  }
  for (const set of sets) collect(set)
  return found
}

/** Returns whether `@skip` and `@include` leave a selection in. */
export function isIncluded({ variables }: Pick<SelectionContext, 'variables'>, selection: SelectionNode): boolean {
  if (selection.directives === undefined || selection.directives.length === 0) return true
  const value = (directive: typeof GraphQLSkipDirective) => {
    try {
      return getDirectiveValues(directive, selection, variables)?.if
    } catch {
      return undefined
    }
  }
  return value(GraphQLSkipDirective) !== true && value(GraphQLIncludeDirective) !== false
}

function appliesTo({ schema }: SelectionContext, type: GraphQLObjectType, condition: string | undefined): boolean {
  if (condition === undefined || condition === type.name) return true
  const conditional = typeFromAST(schema, { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: condition } })
  return isAbstractType(conditional) && schema.isSubType(conditional, type)
}
