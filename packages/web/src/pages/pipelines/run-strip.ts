import type { Bucket, PipelineRun } from '../../api/answers.ts'
import { type Meaning, statusWord } from '../../components/status-words.ts'
import { toMilliseconds } from '../../components/time.ts'

/** A mark of the strip above the table: one run. Failures have a cap, so that they are not known by colour alone. */
export interface Mark {
  readonly key: string
  readonly x: number
  readonly top: number
  readonly height: number
  readonly meaning: Meaning
  readonly hasCap: boolean
}

export const STRIP_WIDTH = 1000
export const STRIP_HEIGHT = 44
export const MARK_WIDTH = 4
const BASE = STRIP_HEIGHT - 1
const LEAST = 3

type StripRun = Pick<PipelineRun, 'trace_id' | 'span_id' | 'start_ns' | 'duration_ns' | 'status'>

/** Returns a mark per run: its place is its start, its height the root of its duration. */
export function runStrip(runs: readonly StripRun[], sinceMs: number, untilMs: number): readonly Mark[] {
  const longest = Math.max(1, ...runs.map((run) => Number(run.duration_ns)))
  const length = Math.max(1, untilMs - sinceMs)
  return runs.map((run) => {
    const share = (Number(run.start_ns) / 1e6 - sinceMs) / length
    const height = Math.max(LEAST, Math.sqrt(Number(run.duration_ns) / longest) * (BASE - 2))
    const meaning = statusWord(run.status).meaning
    return {
      key: `${run.trace_id}/${run.span_id}`,
      x: Math.round(Math.min(1, Math.max(0, share)) * (STRIP_WIDTH - MARK_WIDTH) * 10) / 10,
      top: Math.round((BASE - height) * 10) / 10,
      height: Math.round(height * 10) / 10,
      meaning,
      hasCap: meaning === 'failed',
    }
  })
}

/** A bar of the strip: the runs that started in a part of the range, the failed ones on top and below a cap. */
export interface Bar {
  readonly key: string
  readonly x: number
  readonly width: number
  readonly top: number
  readonly height: number
  readonly failedHeight: number
}

const BAR_GAP = 2
const LEAST_FAILED = 2

/** Returns a bar per part of the range with runs. Its height is the number of its runs. */
export function runBars(
  buckets: readonly Pick<Bucket, 'start_ns' | 'end_ns' | 'runs' | 'failed'>[],
  sinceMs: number,
  untilMs: number,
): readonly Bar[] {
  const most = Math.max(1, ...buckets.map(({ runs }) => runs))
  const placeOf = (ns: string) => {
    const share = (toMilliseconds(ns) - sinceMs) / Math.max(1, untilMs - sinceMs)
    return Math.min(1, Math.max(0, share)) * STRIP_WIDTH
  }
  return buckets.flatMap(({ start_ns, end_ns, runs, failed }) => {
    if (runs === 0) return []
    const x = placeOf(start_ns)
    const height = Math.max(LEAST, (runs / most) * (BASE - 2))
    const failedHeight = failed === 0 ? 0 : Math.max(LEAST_FAILED, (failed / runs) * height)
    const width = Math.max(1, placeOf(end_ns) - x - BAR_GAP)
    return [{ key: start_ns, x, width, top: BASE - height, height, failedHeight }]
  })
}

const HOUR = 3_600_000
const MAX_LABELS = 8
const hourSteps = [1, 2, 3, 6, 12] as const
/** The share of the strip at its end that has no label, so that none is cut. */
const LABEL_SHARE = 0.06

/** A label below the strip, with its place from 0 to 1. */
export interface StripLabel {
  readonly at: number
  readonly ms: number
  readonly isDay: boolean
}

/** Returns labels where days of the viewer's clock begin, or hours within a short range; each stands at its own time. */
export function stripLabels(sinceMs: number, untilMs: number): readonly StripLabel[] {
  const length = Math.max(1, untilMs - sinceMs)
  const hours = hourSteps.find((step) => length / (step * HOUR) <= MAX_LABELS)
  const days = Math.ceil(length / (24 * HOUR) / MAX_LABELS)
  const labels: StripLabel[] = []
  // The clock of the viewer, because days can be longer or shorter than 24 hours.
  const time = new Date(sinceMs)
  time.setHours(0, 0, 0, 0)
  while (time.getTime() < untilMs) {
    const ms = time.getTime()
    const at = (ms - sinceMs) / length
    if (at >= 0 && at <= 1 - LABEL_SHARE) labels.push({ at, ms, isDay: time.getHours() === 0 })
    if (hours === undefined) time.setDate(time.getDate() + days)
    else time.setTime(ms + hours * HOUR)
  }
  return labels
}
