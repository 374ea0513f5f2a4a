import { type FieldNode, Kind, type OperationDefinitionNode, type SelectionSetNode } from 'graphql'
import type { Selecting } from './selected-fields.ts'

export const MAX_DEPTH = { anonymous: 15, signedIn: 20 } as const
/** A field name may be open so often in one branch. */
export const MAX_RECURSION = 2
/** Lists of lists, and wrappers of lists in introspection, say nothing of what is asked for. */
const uncounted = new Set(['node', 'nodes', 'edges', 'ofType'])

export interface Nesting {
  /** Levels of fields from the root to the deepest leaf. */
  readonly depth: number
  /** The field names that are nested in themselves too often, with how often; empty for none. */
  readonly recursive: Readonly<Record<string, number>>
}

/**
 * How deep an operation goes. Fragments cannot be nested in themselves, which validation has seen to.
 *
 * @see spec/graphql-contract.md 2.4
 */
export function nestingOf({ fragments }: Pick<Selecting, 'fragments'>, operation: OperationDefinitionNode): Nesting {
  const depths = new Map<string, number>()
  const deepest = (set: SelectionSetNode): number =>
    Math.max(
      0,
      ...set.selections.map((selection) => {
        if (selection.kind === Kind.FIELD) return 1 + (selection.selectionSet ? deepest(selection.selectionSet) : 0)
        if (selection.kind === Kind.INLINE_FRAGMENT) return deepest(selection.selectionSet)
        return depthOfFragment(selection.name.value)
      }),
    )
  const depthOfFragment = (name: string): number => {
    const known = depths.get(name)
    if (known !== undefined) return known
    const fragment = fragments[name]
    const depth = fragment === undefined ? 0 : deepest(fragment.selectionSet)
    depths.set(name, depth)
    return depth
  }
  return { depth: deepest(operation.selectionSet), recursive: recursionIn(fragments, operation) }
}

/**
 * A fragment is looked into once for each combination of names that are open around it, so that many fragments that use
 * each other cost no more than they are.
 */
function recursionIn(
  fragments: Selecting['fragments'],
  operation: OperationDefinitionNode,
): Readonly<Record<string, number>> {
  const seen = new Set<string>()
  const walk = (
    set: SelectionSetNode,
    open: ReadonlyMap<string, number>,
  ): Readonly<Record<string, number>> | undefined => {
    for (const selection of set.selections) {
      const found =
        selection.kind === Kind.FIELD
          ? walkField(selection, open)
          : selection.kind === Kind.INLINE_FRAGMENT
            ? walk(selection.selectionSet, open)
            : walkFragment(selection.name.value, open)
      if (found !== undefined) return found
    }
    return undefined
  }
  const walkField = ({ name, selectionSet }: FieldNode, open: ReadonlyMap<string, number>) => {
    if (selectionSet === undefined) return undefined
    if (uncounted.has(name.value)) return walk(selectionSet, open)
    const times = (open.get(name.value) ?? 0) + 1
    if (times > MAX_RECURSION) return { [name.value]: times }
    return walk(selectionSet, new Map([...open, [name.value, times]]))
  }
  const walkFragment = (name: string, open: ReadonlyMap<string, number>) => {
    const place = `${name} ${[...open].sort().join()}`
    const fragment = fragments[name]
    if (fragment === undefined || seen.has(place) || seen.size >= MOST_PLACES) return undefined
    seen.add(place)
    return walk(fragment.selectionSet, open)
  }
  return walk(operation.selectionSet, new Map()) ?? {}
}

/** What nests more variously is refused for its complexity. */
const MOST_PLACES = 10_000
