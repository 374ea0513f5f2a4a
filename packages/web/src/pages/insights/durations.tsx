import { useMemo, useState } from 'preact/hooks'
import type { Bucket, Insights } from '../../api/answers.ts'
import { Chart, type ChartSpec } from '../../components/chart.tsx'
import { gridText, secondSteps } from '../../components/chart-steps.ts'
import { CsvButton } from '../../components/csv-button.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { durationText } from '../../components/duration.ts'
import { nowMs } from '../../components/now.ts'
import { Scroll } from '../../components/scroll.tsx'
import { Duration, numberText, percentText, Time } from '../../components/text.tsx'
import { localText, toMilliseconds } from '../../components/time.ts'
import { navigate } from '../../location.ts'
import { runsAddress } from './job-links.ts'

interface DurationsProps {
  readonly insights: Insights
  readonly filters: { readonly project: string | null; readonly ref: string | null }
}

const HOUR = 3_600_000

/** The panel Duration: percentiles, failure rate and queue time over time, and the same numbers as a table. */
export function Durations({ insights, filters }: DurationsProps) {
  const { buckets, totals } = insights
  const [hovered, setHovered] = useState<number | null>(null)
  const specs = useMemo(() => specsOf(insights), [insights])
  const addressOfBucket = (bucket: Bucket) => runsAddress({ since: bucket.start_ns, until: bucket.end_ns }, filters)
  const open = (index: number) => {
    const bucket = buckets[index]
    if (bucket !== undefined) navigate(addressOfBucket(bucket))
  }
  const bucket = hovered === null ? undefined : buckets[hovered]
  const at = bucket === undefined ? '' : `${localText(toMilliseconds(bucket.start_ns), 'minute', nowMs.value)}: `
  const key = (idle: string, values: (bucket: Bucket) => string) => (
    <span class="key">{bucket === undefined ? idle : at + values(bucket)}</span>
  )
  return (
    <section class="panel" aria-label="Duration">
      <header>
        <h2>Duration</h2>
        <span class="end soft">Select a point to open its runs</span>
      </header>
      <div class="multiples">
        <div>
          <h3>
            Pipeline duration
            {key(
              `start to end, median and 95th percentile, every ${bucketText(buckets[0])}`,
              ({ runs, duration_p50, duration_p95 }) =>
                `p50 ${durationText(duration_p50)}, p95 ${durationText(duration_p95)}, ${runs} runs`,
            )}
          </h3>
          <Chart
            label={`Pipeline duration over time. Median of the range: ${durationText(totals.duration_p50)}, 95th percentile: ${durationText(totals.duration_p95)}.`}
            spec={specs.duration}
            onHover={setHovered}
            onSelect={open}
          />
        </div>
        <div>
          <h3>
            Failure rate
            {key('failed of passed and failed', ({ failure_rate, failed, success }) =>
              failure_rate === null ? 'no runs' : `${percentText(failure_rate)}, ${failed} of ${failed + success}`,
            )}
          </h3>
          <Chart
            label={`Failure rate over time. ${percentText(totals.failure_rate)} in the range.`}
            spec={specs.failures}
            onSelect={open}
          />
        </div>
        <div>
          <h3>
            Queue time
            {key('95th percentile', ({ queue_p95 }) => durationText(queue_p95))}
          </h3>
          <Chart
            label={`Queue time over time. 95th percentile of the range: ${durationText(totals.queue_p95)}.`}
            spec={specs.queue}
            onSelect={open}
          />
        </div>
        <div class="under">
          <details class="table">
            <summary>Show these numbers as a table</summary>
            <Scroll label="Duration over time">
              <DataTable
                label="Duration over time"
                columns={columns(addressOfBucket)}
                rows={buckets.filter(({ runs }) => runs > 0)}
                rowKey={({ start_ns }) => start_ns}
              />
            </Scroll>
          </details>
          <CsvButton table="Duration over time" headers={csvHeaders} rows={() => buckets.map(csvRow)} />
        </div>
      </div>
    </section>
  )
}

function specsOf({ buckets, findings }: Insights): Readonly<Record<'duration' | 'failures' | 'queue', ChartSpec>> {
  const first = buckets[0]
  const size = first === undefined ? 0 : toMilliseconds(first.end_ns) - toMilliseconds(first.start_ns)
  const times = buckets.map(({ start_ns }) => toMilliseconds(start_ns) + size / 2)
  const since = first === undefined ? 0 : toMilliseconds(first.start_ns)
  const until = since + size * buckets.length
  const badDay = findings
    .find(({ rule }) => rule === 'bad_day')
    ?.parts.flatMap((part) => ('day_ns' in part ? [toMilliseconds(part.day_ns)] : []))
  const marked = (badDay ?? []).map((day) => ({ since: Math.max(since, day), until: Math.min(until, day + 24 * HOUR) }))
  const common = { times, since, until, marked, syncKey: 'insights' }
  const last = (values: readonly (number | null)[]) => values.findLast((value) => value !== null) ?? null
  const p95 = buckets.map(({ duration_p95 }) => duration_p95)
  const p50 = buckets.map(({ duration_p50 }) => duration_p50)
  const queue = buckets.map(({ queue_p95 }) => queue_p95)
  return {
    duration: {
      ...common,
      height: 190,
      hasBand: true,
      hidesTimes: true,
      formatValue: gridText,
      steps: secondSteps,
      series: [
        { label: 'p95', values: p95, color: '--accent', dash: [5, 3], endLabel: `p95 ${durationText(last(p95))}` },
        { label: 'p50', values: p50, color: '--text', endLabel: `p50 ${durationText(last(p50))}` },
      ],
    },
    failures: {
      ...common,
      height: 74,
      hidesTimes: true,
      formatValue: (value) => percentText(value),
      steps: [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1],
      series: [
        {
          label: 'Failure rate',
          values: buckets.map(({ failure_rate }) => failure_rate),
          color: '--failed',
          kind: 'bars',
          endLabel: ' ',
        },
      ],
    },
    queue: {
      ...common,
      height: 100,
      formatValue: gridText,
      steps: secondSteps,
      series: [{ label: 'p95', values: queue, color: '--queued', dash: [2, 2.5], endLabel: durationText(last(queue)) }],
    },
  }
}

function columns(addressOfBucket: (bucket: Bucket) => string): readonly Column<Bucket>[] {
  return [
    {
      id: 'start',
      header: 'From',
      isRowHeader: true,
      class: 'nowrap',
      cell: ({ start_ns }) => <Time at={start_ns} precision="minute" />,
    },
    {
      id: 'runs',
      header: 'Runs',
      isNumeric: true,
      cell: (bucket) => <a href={addressOfBucket(bucket)}>{numberText(bucket.runs)}</a>,
    },
    { id: 'p50', header: 'p50', isNumeric: true, cell: ({ duration_p50 }) => <Duration seconds={duration_p50} /> },
    { id: 'p95', header: 'p95', isNumeric: true, cell: ({ duration_p95 }) => <Duration seconds={duration_p95} /> },
    { id: 'rate', header: 'Failure rate', isNumeric: true, cell: ({ failure_rate }) => percentText(failure_rate) },
    { id: 'q50', header: 'Queue p50', isNumeric: true, cell: ({ queue_p50 }) => <Duration seconds={queue_p50} /> },
    { id: 'q95', header: 'Queue p95', isNumeric: true, cell: ({ queue_p95 }) => <Duration seconds={queue_p95} /> },
  ]
}

const csvHeaders = [
  'start',
  'end',
  'runs',
  'success',
  'failed',
  'canceled',
  'duration_p50_seconds',
  'duration_p95_seconds',
  'failure_rate',
  'queue_p50_seconds',
  'queue_p95_seconds',
]

function csvRow(bucket: Bucket): readonly (string | number | null)[] {
  const { runs, success, failed, canceled, duration_p50, duration_p95, failure_rate, queue_p50, queue_p95 } = bucket
  const iso = (ns: string) => new Date(toMilliseconds(ns)).toISOString()
  return [
    ...[iso(bucket.start_ns), iso(bucket.end_ns), runs, success, failed, canceled],
    ...[duration_p50, duration_p95, failure_rate, queue_p50, queue_p95],
  ]
}

function bucketText(bucket: Bucket | undefined): string {
  if (bucket === undefined) return 'day'
  const hours = (toMilliseconds(bucket.end_ns) - toMilliseconds(bucket.start_ns)) / HOUR
  if (hours < 1) return `${Math.round(hours * 60)} min`
  return hours < 24 ? `${Math.round(hours)} h` : hours === 24 ? 'day' : `${Math.round(hours / 24)} days`
}
