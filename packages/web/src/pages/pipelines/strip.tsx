import type { PipelineRun } from '../../api/pipelines.ts'
import { localText } from '../../components/time.ts'
import { MARK_WIDTH, runStrip, STRIP_HEIGHT, STRIP_WIDTH, stripLabels } from './run-strip.ts'

interface StripProps {
  readonly runs: readonly PipelineRun[]
  readonly sinceMs: number
  readonly untilMs: number
  readonly endsNow: boolean
  /** Whether the range has older runs than these. */
  readonly hasOlder: boolean
}

/** The runs of the table over time: one mark per run. The table has the same numbers. */
export function Strip({ runs, sinceMs, untilMs, endsNow, hasOlder }: StripProps) {
  const marks = runStrip(runs, sinceMs, untilMs)
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
        {stripLabels(sinceMs, untilMs).map(({ at, ms, isDay }) => (
          <span key={ms} style={{ left: `${at * 100}%` }}>
            {localText(ms, isDay ? 'day' : 'time', untilMs)}
          </span>
        ))}
        {endsNow ? <span class="now">now</span> : null}
      </div>
      {hasOlder ? (
        <p class="note">
          The strip has the latest {runs.length} runs, since {from}. <b>Older runs</b> below the table adds more.
        </p>
      ) : null}
    </div>
  )
}
