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

/** What an operation is measured against. */
export interface Selecting {
  readonly schema: GraphQLSchema
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  readonly variables: Readonly<Record<string, unknown>>
  readonly looks: Looks
}

/** A fragment is looked into wherever it is spread: whoever needs more looks than this asks for too much, however it ends. */
const MAX_LOOKS = 100_000

/** Nobody looks any further at this operation. */
export class TooManyLooks extends Error {
  override readonly name = 'TooManyLooks'
  readonly count = MAX_LOOKS
}

/** How often something of an operation was looked at to measure it. */
export class Looks {
  #count = 0

  /** @throws TooManyLooks */
  add(): void {
    this.#count += 1
    if (this.#count > MAX_LOOKS) throw new TooManyLooks()
  }
}

/** The fields that some selection sets ask of an object, by the key that each has in the answer. */
export function selectedFields(
  selecting: Selecting,
  type: GraphQLObjectType,
  sets: readonly SelectionSetNode[],
): ReadonlyMap<string, readonly FieldNode[]> {
  const found = new Map<string, FieldNode[]>()
  const spread = new Set<string>()
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      selecting.looks.add()
      if (!isIncluded(selecting, selection)) continue
      if (selection.kind === Kind.FIELD) {
        const key = selection.alias?.value ?? selection.name.value
        const same = found.get(key)
        if (same === undefined) found.set(key, [selection])
        else same.push(selection)
      } else if (selection.kind === Kind.INLINE_FRAGMENT) {
        if (appliesTo(selecting, type, selection.typeCondition?.name.value)) collect(selection.selectionSet)
      } else if (!spread.has(selection.name.value)) {
        spread.add(selection.name.value)
        const fragment = selecting.fragments[selection.name.value]
        if (fragment && appliesTo(selecting, type, fragment.typeCondition.name.value)) collect(fragment.selectionSet)
      }
    }
  }
  for (const set of sets) collect(set)
  return found
}

/** By `@skip` and `@include`. */
export function isIncluded({ variables }: Pick<Selecting, 'variables'>, selection: SelectionNode): boolean {
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

function appliesTo({ schema }: Selecting, type: GraphQLObjectType, condition: string | undefined): boolean {
  if (condition === undefined || condition === type.name) return true
  const conditional = typeFromAST(schema, { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: condition } })
  return isAbstractType(conditional) && schema.isSubType(conditional, type)
}
