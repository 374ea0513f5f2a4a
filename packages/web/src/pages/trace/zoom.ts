/** The part of the trace that the timeline shows, in nanoseconds since the start of the trace. */
export interface Zoom {
  readonly fromNs: number
  readonly toNs: number
}

const NS_PER_SECOND = 1e9

/** The narrowest zoom. A trace that is shorter is shown whole. */
const MIN_NS = 1_000

/** Returns the whole trace. A trace without length gets a second, so that its spans have a place. */
export const wholeTrace = (durationNs: number): Zoom => ({
  fromNs: 0,
  toNs: durationNs > 0 ? durationNs : NS_PER_SECOND,
})

/** Returns the zoom of an address: `17.5-60.25`, seconds since the start of the trace. Anything else shows the whole trace. */
export function readZoom(text: string | null, durationNs: number): Zoom {
  const whole = wholeTrace(durationNs)
  const match = /^(\d{1,12}(?:\.\d{1,9})?)-(\d{1,12}(?:\.\d{1,9})?)$/.exec(text ?? '')
  if (match === null) return whole
  const zoom = clampZoom(
    { fromNs: Number(match[1]) * NS_PER_SECOND, toNs: Number(match[2]) * NS_PER_SECOND },
    durationNs,
  )
  return zoom.toNs > zoom.fromNs ? zoom : whole
}

/** Returns the zoom for the address; null for the whole trace. */
export function zoomText(zoom: Zoom, durationNs: number): string | null {
  return isWhole(zoom, durationNs) ? null : `${secondsText(zoom.fromNs)}-${secondsText(zoom.toNs)}`
}

const secondsText = (nanoseconds: number): string =>
  (Math.round(nanoseconds) / NS_PER_SECOND).toFixed(9).replace(/\.?0+$/, '')

export const isWhole = ({ fromNs, toNs }: Zoom, durationNs: number): boolean =>
  fromNs <= 0 && toNs >= wholeTrace(durationNs).toNs

/** Returns the zoom within the trace, moved rather than cut, and not narrower than a microsecond. */
export function clampZoom({ fromNs, toNs }: Zoom, durationNs: number): Zoom {
  const end = wholeTrace(durationNs).toNs
  const width = Math.min(end, Math.max(toNs - fromNs, Math.min(MIN_NS, end)))
  const from = Math.min(Math.max(0, fromNs), end - width)
  return { fromNs: from, toNs: from + width }
}

/** Returns a zoom around the middle of another one, with its width times a factor. */
export function scaleZoom({ fromNs, toNs }: Zoom, factor: number, durationNs: number): Zoom {
  const middle = (fromNs + toNs) / 2
  const half = ((toNs - fromNs) / 2) * factor
  return clampZoom({ fromNs: middle - half, toNs: middle + half }, durationNs)
}

/** Returns a zoom moved by a share of its width. */
export function panZoom({ fromNs, toNs }: Zoom, share: number, durationNs: number): Zoom {
  const byNs = (toNs - fromNs) * share
  return clampZoom({ fromNs: fromNs + byNs, toNs: toNs + byNs }, durationNs)
}

/** Returns where a time lies on the timeline, in percent of its width; below 0 or above 100 outside the zoom. */
export const percentAt = (ns: number, { fromNs, toNs }: Zoom): number => ((ns - fromNs) / (toNs - fromNs)) * 100

/** A bar on the timeline in percent, cut at its edges; `undefined` if it lies outside the zoom. */
export function toBar(
  startNs: number,
  endNs: number,
  zoom: Zoom,
): { readonly x: number; readonly w: number } | undefined {
  const from = percentAt(startNs, zoom)
  const to = percentAt(endNs, zoom)
  if (to < 0 || from > 100) return undefined
  const x = Math.max(from, -1)
  return { x: rounded(x), w: rounded(Math.min(to, 101) - x) }
}

export const rounded = (value: number): number => Math.round(value * 1000) / 1000

/** The times that the axis names. */
export interface Ticks {
  readonly labels: readonly { readonly ns: number; readonly x: number; readonly text: string }[]
  /** The distance between lines in percent, and where the first line lies. Half of the lines have no label. */
  readonly linePercent: number
  readonly firstLine: number
}

const MAX_LABELS = 6
const MINUTE = 60
const HOUR = 3_600

/** Returns labels at round times, at most six. */
export function toTicks(zoom: Zoom): Ticks {
  const stepNs = stepOf((zoom.toNs - zoom.fromNs) / MAX_LABELS)
  const labels: Ticks['labels'][number][] = []
  for (let index = Math.ceil(zoom.fromNs / stepNs); index * stepNs <= zoom.toNs; index += 1) {
    const ns = index * stepNs
    labels.push({ ns, x: rounded(percentAt(ns, zoom)), text: tickText(ns, stepNs) })
  }
  const firstNs = Math.ceil(zoom.fromNs / (stepNs / 2)) * (stepNs / 2)
  return {
    labels,
    linePercent: rounded((stepNs / 2 / (zoom.toNs - zoom.fromNs)) * 100),
    firstLine: rounded(percentAt(firstNs, zoom)),
  }
}

const roundSeconds = [1, 2, 5, 10, 15, 30, MINUTE, 120, 300, 600, 900, 1800, HOUR, 7200, 14_400, 28_800, 43_200, 86_400]

function stepOf(atLeastNs: number): number {
  const seconds = roundSeconds.find((each) => each * NS_PER_SECOND >= atLeastNs)
  if (seconds !== undefined && atLeastNs > NS_PER_SECOND / 2) return seconds * NS_PER_SECOND
  const power = 10 ** Math.floor(Math.log10(atLeastNs))
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= atLeastNs) ?? 10 * power
}

function tickText(ns: number, stepNs: number): string {
  if (ns === 0) return '0'
  if (stepNs < 1e6) return `${(ns / 1e3).toLocaleString('en')} µs`
  if (stepNs < NS_PER_SECOND) return `${(ns / 1e6).toLocaleString('en')} ms`
  const seconds = Math.round(ns / NS_PER_SECOND)
  if (seconds < MINUTE) return `${seconds} s`
  const [hours, minutes, rest] = [Math.floor(seconds / HOUR), Math.floor((seconds % HOUR) / MINUTE), seconds % MINUTE]
  const parts = [hours > 0 ? `${hours}h` : '', minutes > 0 ? `${minutes}m` : '', rest > 0 ? `${rest}s` : '']
  return parts.filter((part) => part !== '').join(' ')
}
