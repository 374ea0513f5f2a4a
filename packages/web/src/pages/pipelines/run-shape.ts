import type { PipelineRun } from '../../api/answers.ts'
import { type Meaning, statusWord } from '../../components/status-words.ts'

/** The lines of one colour in the drawing of a run. */
export interface ShapeLines {
  readonly meaning: Meaning
  readonly path: string
}

/** The size of a drawing. `lengthNs` is the time of its whole width; by default that of the run. */
export interface ShapeSize {
  readonly width: number
  readonly height: number
  readonly lengthNs?: number
}

export const SHAPE_WIDTH = 106
export const SHAPE_HEIGHT = 22
const TOP = 2

/** Returns the jobs of a run as lines over time, one below another in order of start. Failures are drawn last, on top. */
export function runShape(
  run: Pick<PipelineRun, 'start_ns' | 'end_ns' | 'shape'>,
  size: ShapeSize = { width: SHAPE_WIDTH, height: SHAPE_HEIGHT },
): {
  readonly lines: readonly ShapeLines[]
  readonly thickness: number
} {
  const start = Number(run.start_ns)
  const length = size.lengthNs ?? Math.max(1, Number(run.end_ns) - start)
  const step = (size.height - 2 * TOP) / Math.max(1, run.shape.length - 1)
  const paths = new Map<Meaning, string>()
  for (const [index, job] of run.shape.entries()) {
    const meaning = job.status === null ? 'passed' : statusWord(job.status).meaning
    const from = clamp((Number(job.start_ns) - start) / length) * size.width
    const width = Math.max(0.6, clamp((Number(job.end_ns) - start) / length) * size.width - from)
    const line = `M${round(from)} ${round(TOP + index * step)}h${round(width)}`
    paths.set(meaning, (paths.get(meaning) ?? '') + line)
  }
  const lines = [...paths].map(([meaning, path]) => ({ meaning, path }))
  return {
    lines: lines.sort((a, b) => Number(a.meaning === 'failed') - Number(b.meaning === 'failed')),
    thickness: Math.max(0.5, Math.min(2, step * 0.9)),
  }
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share))
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
