import type { CriticalPath } from './critical-path.ts'
import type { RowList } from './trace-rows.ts'
import type { TraceNode, TraceTree } from './trace-tree.ts'

/** A vertical line between two rows: along the critical path, or from an attempt of a job to the next one. */
export interface FlowLine {
  readonly kind: 'path' | 'retry'
  readonly firstRow: number
  readonly lastRow: number
  readonly atNs: number
}

/** Lines by groups of neighbouring rows, so that a row finds its lines without looking at all of them. */
export interface FlowIndex {
  readonly linesAt: (row: number) => readonly FlowLine[]
}

const GROUP = 64
const MAX_LINES_PER_GROUP = 200

export function indexFlow(lines: readonly FlowLine[]): FlowIndex {
  const groups = new Map<number, FlowLine[]>()
  for (const line of lines) {
    for (let group = Math.floor(line.firstRow / GROUP); group * GROUP <= line.lastRow; group += 1) {
      const known = groups.get(group) ?? []
      if (known.length === 0) groups.set(group, known)
      if (known.length < MAX_LINES_PER_GROUP) known.push(line)
    }
  }
  return {
    linesAt: (row) =>
      groups.get(Math.floor(row / GROUP))?.filter(({ firstRow, lastRow }) => firstRow <= row && row <= lastRow) ?? [],
  }
}

/** Returns the lines between visible rows. A row that is folded away is represented by the row that hides it. */
export function flowLines(tree: TraceTree, path: CriticalPath, rows: RowList, hasPath: boolean): FlowLine[] {
  const lines: FlowLine[] = []
  const add = (kind: FlowLine['kind'], from: TraceNode, to: TraceNode, atNs: number) => {
    const a = rowOf(from, rows)
    const b = rowOf(to, rows)
    if (a === undefined || b === undefined || a === b) return
    lines.push({ kind, firstRow: Math.min(a, b), lastRow: Math.max(a, b), atNs })
  }
  const last = new Map<TraceNode | undefined, TraceNode>()
  for (const id of hasPath ? path.keys() : []) {
    const node = tree.nodes.get(id)!
    if (node.span.kind === 'pipeline') continue
    const owner = pipelineOf(node)
    const before = last.get(owner)
    if (before !== undefined) add('path', before, node, before.span.endNs)
    // The first job of a child pipeline continues the line of its bridge.
    else if (owner?.parent !== undefined) add('path', owner.parent, node, node.span.startNs - node.span.queuedNs)
    last.set(owner, node)
  }
  for (const [owner, node] of last) if (owner?.parent !== undefined) add('path', node, owner.parent, node.span.endNs)
  for (const { node } of rows.rows) {
    if ((node.attempt?.number ?? 1) <= 1) continue
    const before = rows.rows[rows.indexById.get(node.span.id)! - 1]?.node
    if (before?.attempt !== undefined && before.span.name === node.span.name)
      add('retry', before, node, before.span.endNs)
  }
  return lines
}

function pipelineOf(node: TraceNode): TraceNode | undefined {
  let above = node.parent
  while (above !== undefined && above.span.kind === 'stage') above = above.parent
  return above
}

function rowOf(node: TraceNode, { indexById }: RowList): number | undefined {
  for (let above: TraceNode | undefined = node; above !== undefined; above = above.parent) {
    const index = indexById.get(above.span.id)
    if (index !== undefined) return index
  }
  return undefined
}
