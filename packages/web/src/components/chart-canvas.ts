import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { logarithmicSteps } from './chart-steps.ts'
import { localText } from './time.ts'

/** A line, bars or points of a chart. */
export interface ChartSeries {
  readonly label: string
  readonly values: readonly (number | null)[]
  /** A custom property of tokens.css, for example `--accent`. */
  readonly color: string
  readonly kind?: 'line' | 'bars' | 'points'
  readonly dash?: readonly number[]
  /** In pixels; 7 by default. */
  readonly pointSize?: number
  /** Stands at the end of the line instead of a legend. */
  readonly endLabel?: string
}

/** The drawing of a chart. */
export interface ChartSpec {
  readonly height: number
  /** Milliseconds, ascending. */
  readonly times: readonly number[]
  /** The range of time; that of `times` by default. */
  readonly since?: number
  readonly until?: number
  readonly series: readonly ChartSeries[]
  readonly formatValue: (value: number) => string
  /** The distances between lines of the grid that read well in the unit of the values. */
  readonly steps?: readonly number[]
  /** Fills between the first and the second series. */
  readonly hasBand?: boolean
  /** Ranges of time with a ground of their own. */
  readonly marked?: readonly { readonly since: number; readonly until: number }[]
  /** Charts with the same key share their cursor. */
  readonly syncKey?: string
  /** Leaves out the times below, for charts above another with the same times. */
  readonly hidesTimes?: boolean
  readonly isLogarithmic?: boolean
}

interface Listeners {
  readonly onHover: (index: number | null) => void
  readonly onSelect: (index: number) => void
}

const DAY_MS = 86_400_000
const END_SPACE = 96
const AXIS_SPACE = 52
/** The last time below the axis stands half beyond it. */
const TIME_SPACE = 40

/** Draws a chart into an element that has its height, and returns what removes it. The width follows the element. */
export function drawChart(host: HTMLElement, spec: ChartSpec, listeners: Listeners): () => void {
  const plot = new uPlot(optionsOf(host, spec, listeners), dataOf(spec), host)
  const select = () => {
    const index = plot.cursor.idx
    if (index != null) listeners.onSelect(index)
  }
  plot.over.addEventListener('click', select)
  const observer = new ResizeObserver(() => plot.setSize({ width: host.clientWidth, height: spec.height }))
  observer.observe(host)
  return () => {
    observer.disconnect()
    plot.destroy()
  }
}

function dataOf({ times, series }: ChartSpec): uPlot.AlignedData {
  return [[...times], ...series.map(({ values }) => [...values])] as uPlot.AlignedData
}

function optionsOf(host: HTMLElement, spec: ChartSpec, { onHover }: Listeners): uPlot.Options {
  const font = `11px ${getComputedStyle(host).fontFamily}`
  const [ink, grid] = [colorOf(host, '--text-3'), colorOf(host, '--line')]
  const colors = spec.series.map(({ color }) => colorOf(host, color))
  const hasEnds = spec.series.some(({ endLabel }) => endLabel !== undefined)
  const axis = { stroke: ink, font, ticks: { show: false }, grid: { stroke: grid, width: 1 } }
  return {
    width: host.clientWidth,
    height: spec.height,
    ms: 1,
    padding: [8, hasEnds ? END_SPACE : TIME_SPACE, spec.hidesTimes ? 8 : 0, 0],
    legend: { show: false },
    cursor: {
      y: false,
      drag: { x: false, y: false },
      ...(spec.syncKey === undefined ? {} : { sync: { key: spec.syncKey } }),
    },
    scales: {
      x: {
        time: true,
        ...(spec.since === undefined || spec.until === undefined ? {} : { range: [spec.since, spec.until] }),
      },
      y: spec.isLogarithmic ? { distr: 3 } : { range: (_plot, _least, most) => [0, (most ?? 0) * 1.08 || 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        show: spec.hidesTimes !== true,
        size: 26,
        values: (_, splits, _axis, _space, step) =>
          splits.map((ms) => localText(ms, step >= DAY_MS ? 'day' : 'minute', Date.now())),
        space: 96,
      },
      {
        ...axis,
        size: AXIS_SPACE,
        space: 26,
        values: (_, splits) => splits.map((value) => (value == null ? '' : spec.formatValue(value))),
        ...(spec.steps === undefined ? {} : { incrs: [...spec.steps] }),
        ...(spec.isLogarithmic
          ? {
              splits: (_plot, _axis, least, most) => logarithmicSteps.filter((step) => step >= least && step <= most),
              // By default uPlot labels only powers of ten, so minutes and hours would have lines without a text.
              filter: (_plot, splits) => splits,
            }
          : {}),
      },
    ],
    series: [{}, ...spec.series.map((series, index) => seriesOf(series, colors[index] ?? ink))],
    ...(spec.hasBand ? { bands: [{ series: [1, 2] as [number, number], fill: faded(colors[0] ?? ink, 0.12) }] } : {}),
    hooks: {
      setCursor: [(plot) => onHover(plot.cursor.idx ?? null)],
      drawClear: [(plot) => drawMarked(plot, spec, faded(colorOf(host, '--failed'), 0.09))],
      draw: [(plot) => drawEnds(plot, spec, colorOf(host, '--text'), font)],
    },
  }
}

function seriesOf({ label, kind = 'line', dash, pointSize = 7 }: ChartSeries, color: string): uPlot.Series {
  if (kind === 'bars') {
    return {
      label,
      fill: color,
      stroke: color,
      width: 0,
      points: { show: false },
      paths: uPlot.paths.bars!({ size: [0.65, 40] }),
    }
  }
  if (kind === 'points') {
    return {
      label,
      stroke: color,
      paths: () => null,
      points: { show: true, size: pointSize, width: 1.5, fill: faded(color, 0.35) },
    }
  }
  return {
    label,
    stroke: color,
    width: 1.75,
    spanGaps: true,
    points: { size: 4, fill: color },
    ...(dash === undefined ? {} : { dash: [...dash] }),
  }
}

function drawMarked(plot: uPlot, { marked = [] }: ChartSpec, color: string): void {
  for (const { since, until } of marked) {
    const [left, right] = [plot.valToPos(since, 'x', true), plot.valToPos(until, 'x', true)]
    plot.ctx.fillStyle = color
    plot.ctx.fillRect(left, plot.bbox.top, right - left, plot.bbox.height)
  }
}

/** Writes the names of lines at their ends, at least a line of text apart. */
function drawEnds(plot: uPlot, spec: ChartSpec, color: string, font: string): void {
  const ends = spec.series
    .flatMap(({ endLabel, values }) => {
      const last = values.findLast((value) => value !== null)
      return endLabel === undefined || last == null ? [] : [{ text: endLabel, y: plot.valToPos(last, 'y', true) }]
    })
    .sort((a, b) => a.y - b.y)
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  ctx.save()
  ctx.font = font.replace('11px', `${11 * ratio}px`)
  ctx.fillStyle = color
  ctx.textAlign = 'left'
  ctx.textBaseline = 'middle'
  let lowest = Number.NEGATIVE_INFINITY
  for (const { text, y } of ends) {
    const at = Math.max(y, lowest + 14 * ratio)
    ctx.fillText(text, bbox.left + bbox.width + 8 * ratio, at)
    lowest = at
  }
  ctx.restore()
}

/** Returns the current value of a colour of tokens.css, which a canvas cannot look up itself. */
function colorOf(host: HTMLElement, property: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${property})`
  host.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Returns a colour of the form `rgb(…)` with an opacity. */
function faded(color: string, opacity: number): string {
  return color.replace(/^rgb\((.+)\)$/, (_, parts: string) => `rgba(${parts}, ${opacity})`)
}
