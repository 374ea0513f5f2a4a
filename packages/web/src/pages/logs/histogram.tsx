import { localText } from '../../components/time.ts'
import { HISTOGRAM_WIDTH, type LogRow, logBars } from './log-records.ts'

interface HistogramProps {
  readonly rows: readonly LogRow[]
  readonly sinceMs: number
  readonly untilMs: number
}

const HEIGHT = 48
const TIMES = 5

/** The records that are loaded over time, errors and warnings on top of the rest. */
export function Histogram({ rows, sinceMs, untilMs }: HistogramProps) {
  const bars = logBars(rows, sinceMs, untilMs)
  const most = Math.max(1, ...bars.map(({ errors, warnings, others }) => errors + warnings + others))
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * (HEIGHT - 2)))
  return (
    <div class="hist">
      <svg
        viewBox={`0 0 ${HISTOGRAM_WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label="Log records over time, errors and warnings on top of the rest"
      >
        <line class="gridline" x1="0" x2={HISTOGRAM_WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} />
        {bars.map(({ x, width, errors, warnings, others }) => {
          const rest = HEIGHT - 0.5 - heightOf(others)
          const warned = rest - heightOf(warnings)
          return (
            <g key={x}>
              <rect class="f-line" x={x} width={width} y={rest} height={heightOf(others)} />
              <rect class="f-warning" x={x} width={width} y={warned} height={heightOf(warnings)} />
              <rect class="f-failed" x={x} width={width} y={warned - heightOf(errors)} height={heightOf(errors)} />
            </g>
          )
        })}
      </svg>
      <div class="x" aria-hidden="true">
        {Array.from({ length: TIMES }, (_, index) => {
          const ms = sinceMs + ((untilMs - sinceMs) * index) / (TIMES - 1)
          return <span key={ms}>{localText(ms, 'minute', untilMs)}</span>
        })}
      </div>
    </div>
  )
}
