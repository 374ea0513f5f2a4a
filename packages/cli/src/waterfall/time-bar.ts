/** A time axis that is drawn `cells` characters wide. */
export interface Axis {
  readonly startNs: bigint
  readonly endNs: bigint
  readonly cells: number
}

const EIGHTHS = 8
/** The block characters that are filled from the left, in steps of an eighth of a cell. */
const leftBlocks = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉', '█']

/** Returns the distance of a time from the left edge of the axis in eighths of a cell. */
function positionOf(axis: Axis, timeNs: bigint): number {
  const lengthNs = Number(axis.endNs - axis.startNs)
  const share = lengthNs === 0 ? 0 : Number(timeNs - axis.startNs) / lengthNs
  return Math.round(Math.min(Math.max(share, 0), 1) * axis.cells * EIGHTHS)
}

/** Returns the cell of a time. */
export function cellOf(axis: Axis, timeNs: bigint): number {
  return Math.min(Math.floor(positionOf(axis, timeNs) / EIGHTHS), axis.cells - 1)
}

interface Bar {
  /** The number of cells before the bar. */
  readonly offset: number
  readonly blocks: string
}

/** Returns the bar of a span. Even the shortest span has a visible bar. */
export function barOf(axis: Axis, startNs: bigint, endNs: bigint): Bar {
  const last = axis.cells * EIGHTHS
  const from = Math.min(positionOf(axis, startNs), last - 1)
  const to = Math.max(positionOf(axis, endNs), from + 1)
  const offset = Math.floor(from / EIGHTHS)
  let blocks = ''
  for (let cell = offset; cell * EIGHTHS < to; cell++) {
    const begin = Math.max(from - cell * EIGHTHS, 0)
    blocks += blockOf(begin, Math.min(to - cell * EIGHTHS, EIGHTHS))
  }
  return { offset, blocks }
}

/**
 * Returns the nearest block character. Unicode has only two characters that are filled from the right: a half and an
 * eighth of a cell.
 */
function blockOf(begin: number, end: number): string {
  if (begin <= 1) return leftBlocks[end] ?? ''
  if (end < EIGHTHS) return leftBlocks[Math.max(end - begin, 1)] ?? ''
  return begin <= 5 ? '▐' : '▕'
}

const SECOND_NS = 1_000_000_000n
const minute = 60
const hour = 60 * minute
const day = 24 * hour
const tickSeconds = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * minute),
  ...[1, 2, 3, 6, 12].map((count) => count * hour),
  ...[1, 2, 7, 14, 28, 91, 365].map((count) => count * day),
]
/** The minimum number of cells per label. */
const cellsPerTick = 7

/** Returns labels with round times since the start at their positions: `0s       1m       2m`. */
export function tickLabels(axis: Axis): string {
  const lengthSeconds = Number(axis.endNs - axis.startNs) / Number(SECOND_NS)
  const mostTicks = Math.max(Math.floor(axis.cells / cellsPerTick), 1)
  const step =
    tickSeconds.find((seconds) => lengthSeconds / seconds <= mostTicks) ??
    Math.ceil(lengthSeconds / mostTicks / day) * day
  let labels = '0s'
  for (let tick = step; tick <= lengthSeconds; tick += step) {
    const label = tickLabel(tick)
    const cell = cellOf(axis, axis.startNs + BigInt(tick) * SECOND_NS)
    if (cell + label.length > axis.cells) break
    labels = labels.padEnd(cell) + label
  }
  return labels
}

function tickLabel(seconds: number): string {
  if (seconds < minute) return `${seconds}s`
  if (seconds % day === 0) return `${seconds / day}d`
  if (seconds % hour === 0) return `${seconds / hour}h`
  if (seconds < hour)
    return seconds % minute === 0 ? `${seconds / minute}m` : `${Math.floor(seconds / minute)}m${seconds % minute}s`
  return `${Math.floor(seconds / hour)}h${Math.floor((seconds % hour) / minute)}m`
}
