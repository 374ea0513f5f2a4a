import { type FieldNode, Kind, type OperationDefinitionNode, type SelectionNode, type SelectionSetNode } from 'graphql'
import { isIncluded, type Selecting } from './selected-fields.ts'

export const MAX_DEPTH = { anonymous: 15, signedIn: 20 } as const
/** A field name may be open so often in one branch. */
export const MAX_RECURSION = 2
/** Lists of lists, and wrappers of lists in introspection, say nothing of what is asked for. */
const uncounted = new Set(['node', 'nodes', 'edges', 'ofType'])

export interface Nesting {
  /** Levels of fields from the root to the deepest leaf. */
  readonly depth: number
  /** The first field name that is found nested in itself too often. */
  readonly recursive: Recursion | undefined
}

interface Recursion {
  readonly name: string
  readonly times: number
}

type Measuring = Pick<Selecting, 'fragments' | 'variables' | 'looks'>

/**
 * How deep an operation goes. Fragments cannot be nested in themselves, which validation has seen to.
 *
 * @throws TooManyLooks
 * @see spec/graphql-contract.md 2.4
 */
export const nestingOf = (measuring: Measuring, operation: OperationDefinitionNode): Nesting => ({
  depth: depthOf(measuring, operation),
  recursive: recursionIn(measuring, operation),
})

function depthOf(measuring: Measuring, operation: OperationDefinitionNode): number {
  const depths = new Map<string, number>()
  const ofSet = ({ selections }: SelectionSetNode): number => {
    let deepest = 0
    for (const selection of selections)
      deepest = Math.max(deepest, isIncluded(measuring, selection) ? of(selection) : 0)
    return deepest
  }
  const of = (selection: SelectionNode): number => {
    if (selection.kind === Kind.FIELD) return 1 + (selection.selectionSet ? ofSet(selection.selectionSet) : 0)
    if (selection.kind === Kind.INLINE_FRAGMENT) return ofSet(selection.selectionSet)
    return ofFragment(selection.name.value)
  }
  const ofFragment = (name: string): number => {
    const known = depths.get(name)
    if (known !== undefined) return known
    const fragment = measuring.fragments[name]
    const depth = fragment === undefined ? 0 : ofSet(fragment.selectionSet)
    depths.set(name, depth)
    return depth
  }
  return ofSet(operation.selectionSet)
}

/**
 * A fragment is looked into once for each combination of names that are open around it, so that many fragments that use
 * each other cost no more than they are.
 */
function recursionIn(measuring: Measuring, operation: OperationDefinitionNode): Recursion | undefined {
  const seen = new Set<string>()
  const walk = (set: SelectionSetNode, open: Open): Recursion | undefined => {
    for (const selection of set.selections) {
      measuring.looks.add()
      const found = isIncluded(measuring, selection) ? walkOne(selection, open) : undefined
      if (found !== undefined) return found
    }
    return undefined
  }
  const walkOne = (selection: SelectionNode, open: Open) => {
    if (selection.kind === Kind.FIELD) return walkField(selection, open)
    if (selection.kind === Kind.INLINE_FRAGMENT) return walk(selection.selectionSet, open)
    return walkFragment(selection.name.value, open)
  }
  const walkField = ({ name, selectionSet }: FieldNode, open: Open) => {
    if (selectionSet === undefined) return undefined
    if (uncounted.has(name.value)) return walk(selectionSet, open)
    const times = (open.get(name.value) ?? 0) + 1
    if (times > MAX_RECURSION) return { name: name.value, times }
    return walk(selectionSet, new Map([...open, [name.value, times]]))
  }
  const walkFragment = (name: string, open: Open) => {
    const place = `${name} ${[...open].sort().join()}`
    const fragment = measuring.fragments[name]
    if (fragment === undefined || seen.has(place)) return undefined
    seen.add(place)
    return walk(fragment.selectionSet, open)
  }
  return walk(operation.selectionSet, new Map())
}

/** How often each name is open. */
type Open = ReadonlyMap<string, number>
