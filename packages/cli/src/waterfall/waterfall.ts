import type { Span } from '@penstock/otlp'
import { displayWidth, fitted, paddedEnd } from '../text/display-width.ts'
import { formatDuration } from '../text/duration.ts'
import type { Palette } from '../text/palette.ts'
import { counted } from '../text/wording.ts'
import type { Mark } from './span-row.ts'
import { type TreeRow, treeRows } from './span-rows.ts'
import { type Trace, tracesOf } from './span-tree.ts'
import { type Axis, barOf, cellOf, tickLabels } from './time-bar.ts'
import { traceHeader } from './trace-header.ts'

interface WaterfallOptions {
  /** The columns of the terminal. */
  readonly width: number
  readonly palette: Palette
  /** The option with which the spans were converted. */
  readonly extensions: boolean
}

/** The number of drawn rows per trace. Further rows are only counted. */
const rowsPerTrace = 200
/** The minimum width. Lines wrap on narrower terminals. */
const minWidth = 60
const maxStageWidth = 12
const durationWidth = 7
const gap = '  '

const queued: Mark = { sign: '░', style: 'dim', meaning: 'waiting for a runner' }
const notRun: Mark = { sign: '┆', style: 'dim', meaning: 'did not run' }

/**
 * Draws traces as trees of spans, with bars on a time axis for each trace: a pipeline, its jobs, and below a bridge the
 * pipeline that it has started.
 *
 *     ✓ RUN tide-tables #31                4m 57s  ██████████████████████████████
 *     ├─ ✓ compile                build    1m 35s  █████████▋
 *     └─ ✓ unit                   test     2m 32s            ▐██████████████▌
 */
export function waterfall(spans: readonly Span[], { extensions, ...options }: WaterfallOptions): string[] {
  const drawing: Drawing = {
    ...options,
    width: Math.max(options.width, minWidth),
    marks: new Set(),
    barMarks: new Set(),
  }
  const lines: string[] = []
  for (const trace of tracesOf(spans)) {
    lines.push(...traceLines(trace, treeRows(trace.roots, extensions), drawing), '')
  }
  return lines.length === 0 ? [] : [...lines, ...legend(drawing)]
}

/** The settings of the drawing, and the marks used so far, which the legend explains. */
interface Drawing {
  readonly width: number
  readonly palette: Palette
  readonly marks: Set<Mark>
  readonly barMarks: Set<Mark>
}

/** Widths of the columns of one trace. */
interface Layout {
  readonly label: number
  readonly stage: number
  readonly axis: Axis
}

function traceLines(trace: Trace, rows: readonly TreeRow[], drawing: Drawing): string[] {
  const { width, palette } = drawing
  const shown = rows.slice(0, rowsPerTrace)
  const layout = layoutOf(trace, shown, width)
  const { cells } = layout.axis
  const hidden = rows.length - shown.length
  return [
    ...traceHeader(trace, rows, drawing),
    palette('dim', `${' '.repeat(width - cells)}${tickLabels(layout.axis)}`),
    ...shown.map((row) => rowLine(row, layout, drawing)),
    ...(hidden === 0 ? [] : [palette('dim', `… and ${counted(hidden, 'more span')}`)]),
  ]
}

function layoutOf({ startNs, endNs }: Trace, rows: readonly TreeRow[], width: number): Layout {
  const widest = (measure: (row: TreeRow) => number) => rows.reduce((most, row) => Math.max(most, measure(row)), 0)
  const label = Math.min(widest(labelWidth), Math.floor(width * 0.42))
  const stage = Math.min(
    widest(({ row }) => displayWidth(row.stage)),
    maxStageWidth,
  )
  const columns = label + (stage === 0 ? 0 : gap.length + stage) + gap.length + durationWidth + gap.length
  return { label, stage, axis: { startNs, endNs, cells: width - columns } }
}

const labelWidth = ({ branch, row }: TreeRow): number =>
  branch.length + '✓ '.length + displayWidth(row.name) + suffixWidth(row.number) + suffixWidth(row.detail)

const suffixWidth = (text: string): number => (text === '' ? 0 : 1 + displayWidth(text))

function rowLine(tree: TreeRow, layout: Layout, drawing: Drawing): string {
  const { span, row } = tree
  const { palette } = drawing
  const lengthNs = span.endTimeUnixNano - span.startTimeUnixNano
  const duration = (row.executed ? formatDuration(lengthNs) : '–').padStart(durationWidth)
  const stage = layout.stage === 0 ? '' : gap + palette('dim', paddedEnd(fitted(row.stage, layout.stage), layout.stage))
  drawing.marks.add(row.mark)
  return (label(tree, layout.label, palette) + stage + gap + duration + gap + bar(tree, layout.axis, drawing)).trimEnd()
}

/**
 * Returns the text of a row. If there is too little room, the failure is truncated first, then the name. The number is
 * always complete.
 */
function label({ branch, row }: TreeRow, width: number, palette: Palette): string {
  const room = width - branch.length - '✓ '.length - suffixWidth(row.number)
  const name = fitted(row.name, room)
  const left = room - displayWidth(name)
  const detail = left > 2 ? fitted(row.detail, left - 1) : ''
  const styledName = row.isPipeline ? palette('bold', name) : name
  const number = row.number === '' ? '' : ` ${palette('dim', row.number)}`
  const suffix = detail === '' ? '' : ` ${palette(row.detailStyle, detail)}`
  const rest = ' '.repeat(Math.max(left - suffixWidth(detail), 0))
  return `${palette('dim', branch)}${palette(row.mark.style, row.mark.sign)} ${styledName}${number}${suffix}${rest}`
}

/** Returns the bar of a row. If the wait for a runner fills whole cells, it is drawn before the bar. */
function bar({ span, row }: TreeRow, axis: Axis, { palette, barMarks }: Drawing): string {
  const { startTimeUnixNano: startNs, endTimeUnixNano: endNs } = span
  if (!row.executed) {
    barMarks.add(notRun)
    return ' '.repeat(cellOf(axis, startNs)) + palette(notRun.style, notRun.sign)
  }
  const { offset, blocks } = barOf(axis, startNs, endNs)
  const queuedCells = row.queuedNs === 0n ? 0 : Math.max(offset - cellOf(axis, startNs - row.queuedNs), 0)
  if (queuedCells > 0) barMarks.add(queued)
  const waiting = palette(queued.style, queued.sign.repeat(queuedCells))
  return ' '.repeat(offset - queuedCells) + waiting + palette(row.mark.style, blocks)
}

/** Returns the legend for the marks that were drawn, wrapped to the width. */
function legend({ marks, barMarks, width, palette }: Drawing): string[] {
  const lines: string[] = []
  let line = ''
  let used = 0
  for (const { sign, style, meaning } of [...marks, ...[queued, notRun].filter((mark) => barMarks.has(mark))]) {
    const entryWidth = '✓ '.length + meaning.length
    if (used > 0 && used + legendGap.length + entryWidth > width) {
      lines.push(line)
      line = ''
      used = 0
    }
    line += `${used === 0 ? '' : legendGap}${palette(style, sign)} ${palette('dim', meaning)}`
    used += entryWidth + (used === 0 ? 0 : legendGap.length)
  }
  return [...lines, line]
}

const legendGap = '   '
