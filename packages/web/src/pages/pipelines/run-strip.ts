import type { PipelineRun } from '../../api/pipelines.ts'
import { type Meaning, statusWord } from '../../components/status-words.ts'

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

/** Returns the times below the strip, from its beginning to its end. */
export function stripTimes(sinceMs: number, untilMs: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => sinceMs + ((untilMs - sinceMs) * index) / (count - 1))
}
