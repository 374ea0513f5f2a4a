import type { Insights, PipelineRun } from '../../api/answers.ts'
import { durationText } from '../../components/duration.ts'
import { numberText } from '../../components/text.tsx'
import { localText, toMilliseconds } from '../../components/time.ts'
import { MARK_WIDTH, runBars, runStrip, STRIP_HEIGHT, STRIP_WIDTH, stripLabels } from './run-strip.ts'

interface StripProps {
  readonly runs: readonly PipelineRun[]
  readonly sinceMs: number
  readonly untilMs: number
  readonly endsNow: boolean
  /** The counts of all runs of the range, if the table has only its latest ones; undefined otherwise, or if there are no counts. */
  readonly counts: Insights | undefined
  /** Whether the range has older runs than these. */
  readonly hasOlder: boolean
}

/** The runs of the range over time: one mark per run of the table, or if it has only the latest ones, the number of all per interval. */
export function Strip({ runs, sinceMs, untilMs, endsNow, counts, hasOlder }: StripProps) {
  const from = localText(sinceMs, 'minute', untilMs)
  return (
    <div class="pulse">
      <svg
        viewBox={`0 0 ${STRIP_WIDTH} ${STRIP_HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={
          counts === undefined
            ? `Run durations since ${from}: one mark per run, height is duration, failed runs have a bar on top`
            : `Runs since ${from}, ${intervalOf(counts)}: height is their number, the failed ones are below a bar on top`
        }
      >
        <line class="gridline" x1="0" x2={STRIP_WIDTH} y1={STRIP_HEIGHT - 0.5} y2={STRIP_HEIGHT - 0.5} />
        {counts === undefined ? (
          <Marks runs={runs} sinceMs={sinceMs} untilMs={untilMs} />
        ) : (
          <Bars counts={counts} sinceMs={sinceMs} untilMs={untilMs} />
        )}
      </svg>
      <div class="x" aria-hidden="true">
        {stripLabels(sinceMs, untilMs).map(({ at, ms, isDay }) => (
          <span key={ms} style={{ left: `${at * 100}%` }}>
            {localText(ms, isDay ? 'day' : 'time', untilMs)}
          </span>
        ))}
        {endsNow ? <span class="now">now</span> : null}
      </div>
      {counts !== undefined ? (
        <p class="note">
          The strip counts {counts.truncated ? 'the latest' : 'all'} {numberText(counts.totals.runs)} runs of the range,{' '}
          {intervalOf(counts)}, {numberText(counts.totals.failed)} of them failed. The table has the latest{' '}
          {numberText(runs.length)}.
        </p>
      ) : hasOlder ? (
        <p class="note">
          The strip has the latest {runs.length} runs, since {from}. <b>Older runs</b> below the table adds more.
        </p>
      ) : null}
    </div>
  )
}

type Drawn = Pick<StripProps, 'sinceMs' | 'untilMs'>

function Marks({ runs, sinceMs, untilMs }: Drawn & Pick<StripProps, 'runs'>) {
  return (
    <>
      {runStrip(runs, sinceMs, untilMs).map(({ key, x, top, height, meaning, hasCap }) => (
        <g key={key}>
          <rect class={`f-${meaning}`} x={x} y={top} width={MARK_WIDTH} height={height} />
          {hasCap ? <rect class="f-failed" x={x - 3} y={top - 1} width={MARK_WIDTH + 6} height="3.5" /> : null}
        </g>
      ))}
    </>
  )
}

function Bars({ counts, sinceMs, untilMs }: Drawn & { readonly counts: Insights }) {
  return (
    <>
      {runBars(counts.buckets, sinceMs, untilMs).map(({ key, x, width, top, height, failedHeight }) => (
        <g key={key}>
          <rect class="f-passed" x={x} y={top + failedHeight} width={width} height={height - failedHeight} />
          {failedHeight === 0 ? null : (
            <>
              <rect class="f-failed" x={x} y={top} width={width} height={failedHeight} />
              <rect class="f-failed" x={x - 1} y={top - 1} width={width + 2} height="2.5" />
            </>
          )}
        </g>
      ))}
    </>
  )
}

/** Returns the length of the intervals in words: `per 6 h`. */
function intervalOf({ buckets: [first] }: Insights): string {
  if (first === undefined) return 'by time'
  return `per ${durationText((toMilliseconds(first.end_ns) - toMilliseconds(first.start_ns)) / 1000)}`
}
