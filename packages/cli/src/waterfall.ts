import type { Span } from '@penstock/otlp'
import { displayWidth, fitted, paddedEnd } from './display-width.ts'
import { formatDuration, formatTime } from './duration.ts'
import type { Palette } from './palette.ts'
import { type Mark, type SpanRow, spanRow } from './span-row.ts'
import { type SpanNode, type Trace, tracesOf } from './span-tree.ts'
import { type Axis, barOf, cellOf, tickLabels } from './time-bar.ts'
import { counted } from './wording.ts'

interface WaterfallOptions {
  /** Columns of the terminal. */
  readonly width: number
  readonly palette: Palette
  /** As the spans were converted. */
  readonly extensions: boolean
}

/** Rows of one trace; what is beyond them is only counted. */
const rowsPerTrace = 200
/** With fewer columns than this, lines wrap. */
const minWidth = 60
const maxStageWidth = 12
const durationWidth = 7
const gap = '  '

/**
 * Traces as trees of spans, with bars on a time axis for each trace: a pipeline, its jobs, and below a bridge the pipeline
 * that it has started.
 *
 *     ✓ RUN tide-tables #31                4m 57s  ██████████████████████████████
 *     ├─ ✓ compile                build    1m 35s  █████████▋
 *     └─ ✓ unit                   test     2m 32s            ▐██████████████▌
 */
export function waterfall(spans: readonly Span[], options: WaterfallOptions): string[] {
  const signs = new Map<string, Mark>()
  const lines: string[] = []
  for (const trace of tracesOf(spans)) {
    const rows = rowsOf(trace.roots, options.extensions)
    for (const { row } of rows.slice(0, rowsPerTrace)) signs.set(row.mark.sign, row.mark)
    lines.push(...traceLines(trace, rows, options), '')
  }
  return lines.length === 0 ? [] : [...lines, ...legend([...signs.values()], options)]
}

interface TreeRow {
  readonly span: Span
  readonly row: SpanRow
  /** Lines of the tree before the mark. */
  readonly branch: string
}

function rowsOf(roots: readonly SpanNode[], extensions: boolean): TreeRow[] {
  const rows: TreeRow[] = []
  const visit = ({ span, children, row }: DescribedNode, branch: string, below: string) => {
    rows.push({ span, row, branch })
    const ordered = describedInOrder(children, extensions)
    for (const [at, child] of ordered.entries()) {
      const isLast = at === ordered.length - 1
      visit(child, `${below}${isLast ? '└─ ' : '├─ '}`, `${below}${isLast ? '   ' : '│  '}`)
    }
  }
  for (const root of describedInOrder(roots, extensions)) visit(root, '', '')
  return rows
}

type DescribedNode = SpanNode & { readonly row: SpanRow }

/** What never ran comes last: the moment it was created tells nothing. */
function describedInOrder(nodes: readonly SpanNode[], extensions: boolean): DescribedNode[] {
  const described = nodes.map((node) => ({ ...node, row: spanRow(node.span, extensions) }))
  return [...described.filter(({ row }) => row.executed), ...described.filter(({ row }) => !row.executed)]
}

/** Widths of the columns of one trace. */
interface Layout {
  readonly label: number
  readonly stage: number
  readonly axis: Axis
}

function traceLines(trace: Trace, rows: readonly TreeRow[], { width, palette }: WaterfallOptions): string[] {
  const shown = rows.slice(0, rowsPerTrace)
  const layout = layoutOf(trace, shown, Math.max(width, minWidth))
  const { cells } = layout.axis
  const hidden = rows.length - shown.length
  return [
    palette('dim', ['trace', trace.traceId, formatTime(trace.startNs), rows[0]?.row.ref ?? ''].join(gap).trimEnd()),
    palette('dim', `${' '.repeat(Math.max(width, minWidth) - cells)}${tickLabels(layout.axis)}`),
    ...shown.map((row) => rowLine(row, layout, palette)),
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
  branch.length + '✓ '.length + displayWidth(row.name) + (row.detail === '' ? 0 : 1 + displayWidth(row.detail))

function rowLine(tree: TreeRow, layout: Layout, palette: Palette): string {
  const { span, row } = tree
  const lengthNs = span.endTimeUnixNano - span.startTimeUnixNano
  const duration = (row.executed ? formatDuration(lengthNs) : '–').padStart(durationWidth)
  const stage = layout.stage === 0 ? '' : gap + palette('dim', paddedEnd(fitted(row.stage, layout.stage), layout.stage))
  return (label(tree, layout.label, palette) + stage + gap + duration + gap + bar(tree, layout.axis, palette)).trimEnd()
}

/** Where room is short, the number of a pipeline matters more than its name, and a job's name more than its failure. */
function label({ branch, row }: TreeRow, width: number, palette: Palette): string {
  const room = width - branch.length - '✓ '.length
  const forDetail = row.isPipeline ? displayWidth(row.detail) + 1 : 0
  const name = fitted(row.name, room - forDetail)
  const left = room - displayWidth(name)
  const detail = left > 2 ? fitted(row.detail, left - 1) : ''
  const rest = ' '.repeat(left - (detail === '' ? 0 : 1 + displayWidth(detail)))
  const styled = row.isPipeline ? palette('bold', name) : name
  const suffix = detail === '' ? '' : ` ${palette(row.detailStyle, detail)}`
  return `${palette('dim', branch)}${palette(row.mark.style, row.mark.sign)} ${styled}${suffix}${rest}`
}

/** Waiting for a runner is drawn before the bar, as far as there are whole cells for it. */
function bar({ span, row }: TreeRow, axis: Axis, palette: Palette): string {
  const { startTimeUnixNano: startNs, endTimeUnixNano: endNs } = span
  if (!row.executed) return ' '.repeat(cellOf(axis, startNs)) + palette('dim', '·')
  const { offset, blocks } = barOf(axis, startNs, endNs)
  const queued = row.queuedNs === 0n ? 0 : Math.max(offset - cellOf(axis, startNs - row.queuedNs), 0)
  return ' '.repeat(offset - queued) + palette('dim', '░'.repeat(queued)) + palette(row.mark.style, blocks)
}

/** What the signs in use mean, on as many lines as it takes. */
function legend(signs: readonly Mark[], { width, palette }: WaterfallOptions): string[] {
  const entries = [...signs, { sign: '░', style: 'dim', meaning: 'waiting for a runner' } as const]
  const lines: string[] = []
  let line = ''
  let used = 0
  for (const { sign, style, meaning } of entries) {
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
