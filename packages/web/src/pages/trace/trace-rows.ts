import type { Lane, TraceNode, TraceTree } from './trace-tree.ts'

export interface RowChoice {
  /** The ids of the rows with hidden children. */
  readonly folded: ReadonlySet<string>
  /** Selects the spans that contain the text, and the rows above them. Empty selects all. */
  readonly search: string
  /** Selects the failed spans, and the rows above them. */
  readonly failedOnly: boolean
}

export interface Row {
  readonly node: TraceNode
  /** Whether the row is the first one of its lane, which has the caption. */
  readonly startsLane: boolean
}

/** The rows of the waterfall from top to bottom, and where each one lies. */
export interface RowList {
  readonly rows: readonly Row[]
  readonly indexById: ReadonlyMap<string, number>
  /** The ids of the spans that the search and the filter found; `undefined` without both. */
  readonly found: ReadonlySet<string> | undefined
}

/** Returns the rows to show. A search or filter opens what is folded, because it would hide what it found. */
export function visibleRows(tree: TraceTree, { folded, search, failedOnly }: RowChoice): RowList {
  const text = search.trim().toLowerCase()
  const found = text === '' && !failedOnly ? undefined : findSpans(tree, text, failedOnly)
  const kept = found === undefined ? undefined : withAncestors(tree, found)
  const rows: Row[] = []
  const lanes = new Set<Lane>()
  const indexById = new Map<string, number>()
  const waiting = tree.roots.toReversed()
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (kept !== undefined && !kept.has(node.span.id)) continue
    indexById.set(node.span.id, rows.length)
    rows.push({ node, startsLane: node.lane !== undefined && !lanes.has(node.lane) })
    if (node.lane !== undefined) lanes.add(node.lane)
    if (kept === undefined && folded.has(node.span.id)) continue
    for (let index = node.children.length - 1; index >= 0; index -= 1) waiting.push(node.children[index]!)
  }
  return { rows, indexById, found }
}

function findSpans({ nodes }: TraceTree, text: string, failedOnly: boolean): Set<string> {
  const found = new Set<string>()
  for (const [id, { span }] of nodes) {
    if (failedOnly && span.status !== 'failed') continue
    const { name, stage, service, status, reason, worker, runId } = span
    const isFound = [name, stage, service, status, reason, worker].some((each) => each?.toLowerCase().includes(text))
    if (isFound || runId === text || id === text) found.add(id)
  }
  return found
}

function withAncestors({ nodes }: TraceTree, found: ReadonlySet<string>): Set<string> {
  const kept = new Set<string>()
  for (const id of found) {
    for (let node = nodes.get(id); node !== undefined && !kept.has(node.span.id); node = node.parent)
      kept.add(node.span.id)
  }
  return kept
}

/**
 * Returns whether `Next failure` stops at a span: at jobs, at bridges without a failed child pipeline, and at spans of other
 * services. A pipeline fails because of its jobs.
 */
export function isFailure({ span, children }: TraceNode): boolean {
  if (span.status !== 'failed' || span.kind === 'pipeline' || span.kind === 'stage') return false
  return span.kind !== 'bridge' || !children.some((child) => child.span.status === 'failed')
}

/** Returns the next failure after a span in the order of rows, folded ones included, then from the top; `undefined` if none failed. */
export function nextFailure(tree: TraceTree, afterId: string | undefined): TraceNode | undefined {
  const { rows, indexById } = visibleRows(tree, { folded: new Set(), search: '', failedOnly: false })
  const from = (afterId === undefined ? -1 : (indexById.get(afterId) ?? -1)) + 1
  const all = rows.map(({ node }) => node)
  return all.slice(from).find(isFailure) ?? all.slice(0, from).find(isFailure)
}

/** Returns the folded rows without those above a span, so that the span can be seen. */
export function unfoldTo(folded: ReadonlySet<string>, node: TraceNode): ReadonlySet<string> {
  const open = new Set(folded)
  for (let above = node.parent; above !== undefined; above = above.parent) open.delete(above.span.id)
  return open.size === folded.size ? folded : open
}
