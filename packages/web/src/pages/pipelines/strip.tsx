import type { PipelineRun } from '../../api/pipelines.ts'
import { localText } from '../../components/time.ts'
import { MARK_WIDTH, runStrip, STRIP_HEIGHT, STRIP_WIDTH, stripTimes } from './run-strip.ts'

interface StripProps {
  readonly runs: readonly PipelineRun[]
  readonly sinceMs: number
  readonly untilMs: number
  readonly endsNow: boolean
}

const HOUR = 3_600_000

/** The runs of the table over time: one mark per run. The table has the same numbers. */
export function Strip({ runs, sinceMs, untilMs, endsNow }: StripProps) {
  const marks = runStrip(runs, sinceMs, untilMs)
  const precision = untilMs - sinceMs > 72 * HOUR ? 'day' : 'minute'
  const from = localText(sinceMs, 'minute', untilMs)
  return (
    <div class="pulse">
      <svg
        viewBox={`0 0 ${STRIP_WIDTH} ${STRIP_HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Run durations since ${from}: one mark per run, height is duration, failed runs have a bar on top`}
      >
        <line class="gridline" x1="0" x2={STRIP_WIDTH} y1={STRIP_HEIGHT - 0.5} y2={STRIP_HEIGHT - 0.5} />
        {marks.map(({ key, x, top, height, meaning, hasCap }) => (
          <g key={key}>
            <rect class={`f-${meaning}`} x={x} y={top} width={MARK_WIDTH} height={height} />
            {hasCap ? <rect class="f-failed" x={x - 3} y={top - 1} width={MARK_WIDTH + 6} height="3.5" /> : null}
          </g>
        ))}
      </svg>
      <div class="x" aria-hidden="true">
        {stripTimes(sinceMs, untilMs, 5).map((ms, index) => (
          <span key={ms}>{index === 4 && endsNow ? 'now' : localText(ms, precision, untilMs)}</span>
        ))}
      </div>
    </div>
  )
}
