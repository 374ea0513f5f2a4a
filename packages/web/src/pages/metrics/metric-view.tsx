import { useMemo } from 'preact/hooks'
import type { MetricIntervals, MetricName, StoredMetric } from '../../api/metrics.ts'
import { Chart, type ChartSpec } from '../../components/chart.tsx'
import { CsvButton } from '../../components/csv-button.tsx'
import { type Column, DataTable } from '../../components/data-table.tsx'
import { durationText } from '../../components/duration.ts'
import { SelectFilter } from '../../components/filter-bar.tsx'
import { LongName } from '../../components/long-name.tsx'
import { parseRange } from '../../components/range.ts'
import { Scroll } from '../../components/scroll.tsx'
import { numberText, Time } from '../../components/text.tsx'
import { toMilliseconds } from '../../components/time.ts'
import { place } from '../../location.ts'
import { intervalLines } from './metric-intervals.ts'
import { type Lines, type PointRow, pointRows, toLines, valueText } from './metric-points.ts'

/** How many data points the table shows. The CSV has all that were loaded. */
const TABLE_ROWS = 200
const colors = ['--accent', '--text', '--queued', '--warning', '--passed', '--running']

interface MetricViewProps {
  readonly metric: StoredMetric
  /** The metric by interval; undefined for types that are drawn as they are. */
  readonly intervals: MetricIntervals | undefined
  readonly about: MetricName | undefined
}

/** A metric: its lines over time and its data points. */
export function MetricView({ metric, intervals, about }: MetricViewProps) {
  const unit = about?.unit ?? metric.series[0]?.unit ?? ''
  const rows = useMemo(() => pointRows(metric), [metric])
  const { query } = place.value
  const groupBy = query.get('group')
  const { sinceMs, untilMs } = useMemo(() => parseRange(query, Date.now()), [metric, intervals, query])
  const isSummed = intervals !== undefined
  const lines: Lines = useMemo(
    () => (intervals === undefined ? toLines(metric) : intervalLines(intervals, { sinceMs, untilMs }, groupBy)),
    [metric, intervals, sinceMs, untilMs, groupBy],
  )
  const isCounter = intervals?.type === 'sum'
  const spec = useMemo(
    () => ({ ...specOf(lines, { unit, isCounter }), ...(isSummed && { since: sinceMs, until: untilMs }) }),
    [lines, unit, isCounter, isSummed, sinceMs, untilMs],
  )
  const keys = intervals?.group_keys ?? []
  const oldest = rows.at(-1)
  const cut =
    metric.truncated || metric.series.some(({ truncated }) => truncated) ? (
      <p class="note">
        There are more series or data points in this range than are shown. Shown are the latest
        {oldest === undefined ? null : (
          <>
            , since <Time at={oldest.timeNs} />
          </>
        )}
        .
      </p>
    ) : null
  return (
    <>
      <section class="panel" aria-label="Chart">
        <header>
          <h2>
            <bdi>{metric.name}</bdi>
          </h2>
          <span class="end soft">
            {keys.length === 0 ? null : <SelectFilter label="Group by" name="group" any="Automatic" options={keys} />}
            {[about?.type, unit, intervalText(intervals?.interval_seconds)]
              .filter((text) => text !== undefined && text !== '')
              .join(', ')}
          </span>
        </header>
        {about?.description ? <p class="note">{about.description.slice(0, 500)}</p> : null}
        <div class="metric-chart">
          <Chart label={`${metric.name} over time: ${spec.series.map(({ label }) => label).join('; ')}`} spec={spec} />
          <ul class="legend">
            {spec.series.map(({ label, color }) => (
              <li key={label}>
                <i style={{ background: `var(${color})` }} />
                <bdi>{label}</bdi>
              </li>
            ))}
          </ul>
        </div>
        {lines.leftOut > 0 ? (
          <p class="note">
            The chart has the {spec.series.length} largest lines; {numberText(lines.leftOut)} more are not drawn.
          </p>
        ) : null}
        {intervals?.truncated ? (
          <p class="note">This range has more data points than one answer adds up, so sums are too low.</p>
        ) : null}
        {intervals === undefined ? cut : null}
      </section>
      {isSummed ? <Intervals spec={spec} name={metric.name} /> : null}
      <section class="panel" aria-labelledby="data-points">
        <header>
          <h2 id="data-points">Data points</h2>
          <span class="end">
            <CsvButton
              table="Data points"
              headers={['time', 'series', 'value', 'count', 'p50', 'p95', 'traces']}
              rows={() =>
                rows.map((row) => [
                  ...[new Date(toMilliseconds(row.timeNs)).toISOString(), row.series, row.value, row.count],
                  ...[row.p50, row.p95, row.traces.map(({ traceId }) => traceId).join(' ')],
                ])
              }
            />
          </span>
        </header>
        <Scroll label="Data points">
          <DataTable
            label="Data points"
            columns={columns(
              unit,
              rows.some(({ count }) => count !== null),
            )}
            rows={rows.slice(0, TABLE_ROWS)}
            rowKey={({ key }) => key}
            rowCount={rows.length + 1}
          />
        </Scroll>
        {intervals === undefined ? null : cut}
        {rows.length > TABLE_ROWS ? (
          <p class="note">
            The latest {TABLE_ROWS} of {numberText(rows.length)}; the CSV has all.
          </p>
        ) : null}
      </section>
    </>
  )
}

/** The numbers of the chart, the latest interval first; intervals without any are left out. */
function Intervals({
  spec: { times, series, formatValue },
  name,
}: {
  readonly spec: ChartSpec
  readonly name: string
}) {
  const rows = times
    .map((time, at) => ({ time, values: series.map(({ values }) => values[at] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null && value !== 0))
    .reverse()
  return (
    <section class="panel" aria-labelledby="intervals">
      <header>
        <h2 id="intervals">By interval</h2>
        <span class="end">
          <CsvButton
            table={`${name} by interval`}
            headers={['from', ...series.map(({ label }) => label)]}
            rows={() => rows.map(({ time, values }) => [new Date(time).toISOString(), ...values])}
          />
        </span>
      </header>
      <Scroll label="By interval">
        <DataTable
          label="By interval"
          columns={[
            {
              id: 'from',
              header: 'From',
              isRowHeader: true,
              class: 'nowrap',
              cell: ({ time }) => <Time at={String(BigInt(time) * 1_000_000n)} precision="minute" />,
            },
            ...series.map(({ label }, at) => ({
              id: label,
              header: label,
              isNumeric: true,
              cell: ({ values }: { readonly values: readonly (number | null)[] }) => {
                const value = values[at] ?? null
                return value === null ? '–' : formatValue(value)
              },
            })),
          ]}
          rows={rows.slice(0, TABLE_ROWS)}
          rowKey={({ time }) => String(time)}
          rowCount={rows.length + 1}
        />
      </Scroll>
    </section>
  )
}

function intervalText(seconds: number | undefined): string {
  return seconds === undefined ? '' : `per ${durationText(seconds)}`
}

function specOf(
  { times, lines }: Lines,
  { unit, isCounter }: { readonly unit: string; readonly isCounter: boolean },
): ChartSpec {
  return {
    height: 260,
    times,
    formatValue: (value) => valueText(value, unit),
    series: lines.map(({ label, values }, index) => ({
      label,
      values,
      color: colors[index] ?? '--accent',
      ...(isCounter && lines.length === 1 ? { kind: 'bars' as const } : {}),
      ...(label.startsWith('p95 ') ? { dash: [5, 3] } : {}),
    })),
  }
}

function columns(unit: string, isHistogram: boolean): readonly Column<PointRow>[] {
  const text = (value: number | null) => valueText(value, unit)
  return [
    { id: 'time', header: 'Time', isRowHeader: true, class: 'nowrap', cell: ({ timeNs }) => <Time at={timeNs} /> },
    {
      id: 'series',
      header: 'Series',
      class: 'soft',
      cell: ({ series }) => <LongName text={series} />,
    },
    {
      id: 'value',
      header: isHistogram ? 'Mean' : 'Value',
      class: 'strong',
      isNumeric: true,
      cell: ({ value }) => text(value),
    },
    ...(isHistogram
      ? [
          {
            id: 'count',
            header: 'Count',
            isNumeric: true,
            cell: ({ count }: PointRow) => (count === null ? '–' : numberText(count)),
          },
          { id: 'p50', header: 'p50', isNumeric: true, cell: ({ p50 }: PointRow) => text(p50) },
          { id: 'p95', header: 'p95', isNumeric: true, cell: ({ p95 }: PointRow) => text(p95) },
        ]
      : []),
    {
      id: 'exemplars',
      header: 'Exemplars',
      cell: ({ traces }) =>
        traces.slice(0, 3).map(({ traceId, spanId }) => (
          <a
            key={traceId + spanId}
            class="exemplar"
            href={`/traces/${encodeURIComponent(traceId)}${spanId === undefined ? '' : `?span=${encodeURIComponent(spanId)}`}`}
          >
            {traceId.slice(0, 8)}
            <span class="vh">, trace</span>
          </a>
        )),
    },
  ]
}
