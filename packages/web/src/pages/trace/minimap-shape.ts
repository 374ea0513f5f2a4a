import type { CriticalPath } from './critical-path.ts'
import { statusLooks } from './trace-text.ts'
import type { TraceTree } from './trace-tree.ts'

/** The bars of the minimap of one colour, as the path of an SVG of 1000 × 30. */
export interface MinimapShape {
  readonly meaning: string
  readonly onPath: boolean
  readonly path: string
}

const WIDTH = 1_000
const HEIGHT = 30
const MAX_BANDS = 60
const CELLS = 250

/**
 * Returns what the minimap draws: a thin bar for each job, or bands in which neighbouring jobs share a line, so that a trace of
 * any size is drawn with a bounded number of bars.
 */
export function minimapShapes(tree: TraceTree, path: CriticalPath): MinimapShape[] {
  const spans = [...rowsInOrder(tree)].filter(
    ({ kind, executed }) => executed && kind !== 'pipeline' && kind !== 'stage',
  )
  const bands = Math.min(MAX_BANDS, Math.max(spans.length, 1))
  const cells = new Map<string, Uint8Array>()
  for (const [index, span] of spans.entries()) {
    const band = Math.floor((index / spans.length) * bands)
    const key = `${statusLooks[span.status].meaning}/${path.has(span.id)}`
    const used = cells.get(key) ?? new Uint8Array(bands * CELLS)
    cells.set(key, used)
    const from = cellOf(span.startNs, tree.durationNs)
    used.fill(1, band * CELLS + from, band * CELLS + Math.max(from + 1, cellOf(span.endNs, tree.durationNs) + 1))
  }
  const height = HEIGHT / bands
  return [...cells].map(([key, used]) => {
    const [meaning, onPath] = key.split('/') as [string, string]
    return { meaning, onPath: onPath === 'true', path: barsOf(used, height) }
  })
}

const cellOf = (ns: number, durationNs: number): number =>
  durationNs <= 0 ? 0 : Math.min(CELLS - 1, Math.max(0, Math.floor((ns / durationNs) * CELLS)))

function barsOf(used: Uint8Array, height: number): string {
  const bars: string[] = []
  const thick = Math.max(1, Math.min(3, height * 0.7))
  for (let start = used.indexOf(1); start !== -1; ) {
    const row = Math.floor(start / CELLS)
    let end = start
    while (end < (row + 1) * CELLS && used[end] === 1) end += 1
    const x = ((start % CELLS) * WIDTH) / CELLS
    const width = ((end - start) * WIDTH) / CELLS
    bars.push(`M${x} ${(row * height).toFixed(1)}h${width}v${thick.toFixed(1)}h${-width}z`)
    start = used.indexOf(1, end)
  }
  return bars.join('')
}

function* rowsInOrder(tree: TraceTree) {
  const waiting = tree.roots.toReversed()
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    yield node.span
    for (let index = node.children.length - 1; index >= 0; index -= 1) waiting.push(node.children[index]!)
  }
}
