import { useMemo, useState } from 'preact/hooks'
import type { TraceSummary } from '../../api/traces.ts'
import { Chart, type ChartSpec } from '../../components/chart.tsx'
import { gridText } from '../../components/chart-steps.ts'
import { durationText } from '../../components/duration.ts'
import { nowMs } from '../../components/now.ts'
import { localText, toMilliseconds } from '../../components/time.ts'
import { navigate } from '../../location.ts'
import { traceSeconds } from './trace-columns.tsx'
import { traceErrors, traceName } from './trace-words.ts'
import './traces.css'

/** The traces of the table by start and duration. The table has the same numbers. */
export function Scatter({ traces }: { readonly traces: readonly TraceSummary[] }) {
  const [hovered, setHovered] = useState<number | null>(null)
  const sorted = useMemo(() => [...traces].reverse(), [traces])
  const spec = useMemo(() => specOf(sorted), [sorted])
  const trace = hovered === null ? undefined : sorted[hovered]
  return (
    <div class="scatter">
      <h3>
        Latency
        <span class="key">
          {trace === undefined
            ? 'Select a point to open its trace; failed ones are red and larger'
            : `${traceName(trace).slice(0, 80)}, ${durationText(traceSeconds(trace))}, ${localText(toMilliseconds(trace.start_time_unix_nano), 'second', nowMs.value)}`}
        </span>
      </h3>
      <Chart
        label={`The durations of ${traces.length} traces over time`}
        spec={spec}
        onHover={setHovered}
        onSelect={(index) => {
          const selected = sorted[index]
          if (selected !== undefined) navigate(`/traces/${encodeURIComponent(selected.trace_id)}`)
        }}
      />
    </div>
  )
}

const LEAST_SECONDS = 1e-6

function specOf(traces: readonly TraceSummary[]): ChartSpec {
  const valuesOf = (hasErrors: boolean) =>
    traces.map((trace) => (traceErrors(trace) > 0 === hasErrors ? Math.max(LEAST_SECONDS, traceSeconds(trace)) : null))
  return {
    height: 170,
    times: traces.map(({ start_time_unix_nano }) => toMilliseconds(start_time_unix_nano)),
    formatValue: gridText,
    isLogarithmic: true,
    series: [
      { label: 'Without errors', values: valuesOf(false), color: '--accent', kind: 'points' },
      { label: 'With errors', values: valuesOf(true), color: '--failed', kind: 'points', pointSize: 10 },
    ],
  }
}
