import { type FieldNode, Kind, type OperationDefinitionNode, type SelectionNode, type SelectionSetNode } from 'graphql'
import { isIncluded, type SelectionContext } from './selected-fields.ts'

export const MAX_DEPTH = { anonymous: 15, signedIn: 20 } as const
/** How often one field name may occur in a branch. */
const MAX_RECURSION = 2
/** The parts of connections, and `ofType` of introspection, recur in ordinary documents. */
const uncounted = new Set(['node', 'nodes', 'edges', 'ofType'])

interface Nesting {
  /** Levels of fields from the root to the deepest leaf. */
  readonly depth: number
  /** The first field name that is nested in itself too often. */
  readonly recursive: Recursion | undefined
}

interface Recursion {
  readonly name: string
  readonly times: number
}

type NestingContext = Pick<SelectionContext, 'fragments' | 'variables' | 'traversal'>

/**
 * Measures how deeply an operation is nested. Validation has ensured that no fragment contains itself.
 *
 * @throws TraversalBudgetExceeded
 */
export const nestingOf = (context: NestingContext, operation: OperationDefinitionNode): Nesting => ({
  depth: depthOf(context, operation),
  recursive: recursionIn(context, operation),
})

function depthOf(context: NestingContext, operation: OperationDefinitionNode): number {
  const depths = new Map<string, number>()
  const depthOfSet = ({ selections }: SelectionSetNode): number => {
    let deepest = 0
    for (const selection of selections)
      deepest = Math.max(deepest, isIncluded(context, selection) ? depthOfSelection(selection) : 0)
    return deepest
  }
  const depthOfSelection = (selection: SelectionNode): number => {
    if (selection.kind === Kind.FIELD) return 1 + (selection.selectionSet ? depthOfSet(selection.selectionSet) : 0)
    if (selection.kind === Kind.INLINE_FRAGMENT) return depthOfSet(selection.selectionSet)
    return depthOfFragment(selection.name.value)
  }
  const depthOfFragment = (name: string): number => {
    const measured = depths.get(name)
    if (measured !== undefined) return measured
    const fragment = context.fragments[name]
    const depth = fragment === undefined ? 0 : depthOfSet(fragment.selectionSet)
    depths.set(name, depth)
    return depth
  }
  return depthOfSet(operation.selectionSet)
}

/**
 * Finds a field name that is nested in itself too often. Each fragment is visited once per combination of counted field
 * names around it (`OpenNames`), so that fragments that spread each other do not multiply the work.
 */
function recursionIn(context: NestingContext, operation: OperationDefinitionNode): Recursion | undefined {
  const seen = new Set<string>()
  const walk = (set: SelectionSetNode, open: OpenNames): Recursion | undefined => {
    for (const selection of set.selections) {
      context.traversal.spend()
      const found = isIncluded(context, selection) ? walkOne(selection, open) : undefined
      if (found !== undefined) return found
    }
    return undefined
  }
  const walkOne = (selection: SelectionNode, open: OpenNames) => {
    if (selection.kind === Kind.FIELD) return walkField(selection, open)
    if (selection.kind === Kind.INLINE_FRAGMENT) return walk(selection.selectionSet, open)
    return walkFragment(selection.name.value, open)
  }
  const walkField = ({ name, selectionSet }: FieldNode, open: OpenNames) => {
    if (selectionSet === undefined) return undefined
    if (uncounted.has(name.value)) return walk(selectionSet, open)
    const times = (open.get(name.value) ?? 0) + 1
    if (times > MAX_RECURSION) return { name: name.value, times }
    return walk(selectionSet, new Map([...open, [name.value, times]]))
  }
  const walkFragment = (name: string, open: OpenNames) => {
    const visit = `${name} ${[...open].sort().join()}`
    const fragment = context.fragments[name]
    if (fragment === undefined || seen.has(visit)) return undefined
    seen.add(visit)
    return walk(fragment.selectionSet, open)
  }
  return walk(operation.selectionSet, new Map())
}

/** How often each field name occurs between the root and the current selection. */
type OpenNames = ReadonlyMap<string, number>
