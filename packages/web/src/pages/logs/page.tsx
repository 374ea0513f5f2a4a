import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useLive } from '../../api/live.ts'
import { listLogRecords, type StoredLogRecord } from '../../api/logs.ts'
import { listServices } from '../../api/traces.ts'
import { useKeys } from '../../app/keys.ts'
import { CsvButton } from '../../components/csv-button.tsx'
import { FilterBar, SelectFilter, TextFilter } from '../../components/filter-bar.tsx'
import { nowMs } from '../../components/now.ts'
import { Blank, Failure, NothingFound, useDelayed } from '../../components/page-states.tsx'
import { parseRange } from '../../components/range.ts'
import { RangeControl } from '../../components/range-control.tsx'
import { type PagedList, usePagedList, useResource } from '../../components/resource.ts'
import { Switch } from '../../components/switch.tsx'
import { numberText } from '../../components/text.tsx'
import { toMilliseconds } from '../../components/time.ts'
import { place, setQuery } from '../../location.ts'
import { Histogram } from './histogram.tsx'
import { type LogRow, logRows, mergeRecords, severities } from './log-records.ts'
import { RecordRow } from './record-row.tsx'
import './logs.css'

const PAGE_SIZE = 200

const severityOptions = severities.map((value) => ({
  value,
  label: value === 'fatal' ? 'Fatal' : `${value.charAt(0).toUpperCase()}${value.slice(1)} and above`,
}))

/** The page Logs: the log records of every service, the latest first. */
export default function LogsPage() {
  const { query } = place.value
  const isLive = query.get('live') === '1' && query.get('until') === null
  const filters = {
    service: query.get('service'),
    severity: query.get('severity'),
    q: query.get('q'),
    trace_id: query.get('trace'),
    span_id: query.get('span'),
  }
  const key = JSON.stringify([filters, query.get('range'), query.get('since'), query.get('until')])
  const records = usePagedList<StoredLogRecord>(key, (cursor, signal) =>
    listLogRecords({ ...filters, ...parseRange(query, Date.now()).query, limit: PAGE_SIZE, cursor }, signal),
  )
  const services = useResource('services', (signal) => listServices(signal))
  useLive(isLive ? { kind: 'logs', ...filters } : null, () => records.refresh(mergeRecords))
  const { reload } = records
  useKeys(
    'Logs',
    useMemo(
      () => [
        { keys: 'r', label: 'Refresh', run: reload },
        {
          keys: '.',
          label: 'Live on or off',
          run: () => setQuery({ live: place.peek().query.get('live') === '1' ? null : '1' }),
        },
      ],
      [reload],
    ),
  )
  const rows = useMemo(() => logRows(records.data ?? []), [records.data])
  return (
    <>
      <div class="head">
        <h1>Logs</h1>
        <div class="end">
          <Switch isOn={isLive} onChange={(isOn) => setQuery({ live: isOn ? '1' : null })}>
            Live
          </Switch>
          <RangeControl />
        </div>
      </div>
      <FilterBar
        label="Filter log records"
        summary={records.data === undefined ? '' : summaryOf(rows, records.loadMore !== undefined)}
      >
        <SelectFilter
          label="Service"
          name="service"
          any="All services"
          options={(services.data ?? []).map(({ name }) => name)}
        />
        <SelectFilter label="Severity" name="severity" any="Any" options={severityOptions} />
        <TextFilter label="Search" name="q" type="search" placeholder="Words in the body" class="wide" />
        {filters.trace_id === null ? null : <TextFilter label="Trace" name="trace" />}
      </FilterBar>
      <Records records={records} rows={rows} />
    </>
  )
}

function summaryOf(rows: readonly LogRow[], hasMore: boolean): string {
  const errors = rows.filter(({ severity }) => severity === 'error' || severity === 'fatal').length
  const count = `${numberText(rows.length)} ${rows.length === 1 ? 'record' : 'records'}`
  return `${hasMore ? `The latest ${count}` : count}, ${errors} ${errors === 1 ? 'error' : 'errors'}`
}

interface RecordsProps {
  readonly records: PagedList<StoredLogRecord>
  readonly rows: readonly LogRow[]
}

function Records({ records, rows }: RecordsProps) {
  const { query } = place.value
  const range = parseRange(query, nowMs.value)
  const isLong = useDelayed(records.isLoading && records.data === undefined)
  const log = useRef<HTMLDivElement>(null)
  // The record that an address opens may be among hundreds.
  useEffect(() => {
    if (!records.isLoading) log.current?.querySelector('.rec.open')?.scrollIntoView({ block: 'nearest' })
  }, [records.isLoading])
  if (records.data === undefined && records.error !== undefined && !records.isLoading) {
    return (
      <div class="panel">
        <Failure title="The log records could not be loaded." error={records.error} onRetry={records.reload} />
      </div>
    )
  }
  if (records.data !== undefined && rows.length === 0) return <Empty words={range.words} />
  const oldest = rows.at(-1)
  const sinceMs = records.loadMore === undefined || oldest === undefined ? range.sinceMs : toMilliseconds(oldest.timeNs)
  return (
    <div class="panel">
      <Histogram rows={rows} sinceMs={sinceMs} untilMs={range.untilMs} />
      <p class="note csv">
        <CsvButton
          table="Log records"
          headers={['time', 'severity', 'service', 'trace_id', 'span_id', 'body']}
          rows={() =>
            rows.map((row) => [
              ...[new Date(toMilliseconds(row.timeNs)).toISOString(), row.severity, row.service],
              ...[row.traceId, row.spanId, row.body],
            ])
          }
        />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached with the keyboard */}
      <div ref={log} class="log" role="log" aria-label="Log records" aria-busy={records.isLoading} tabIndex={0}>
        {isLong ? (
          <Skeleton />
        ) : (
          rows.map((row) => <RecordRow key={row.key} row={row} isOpen={query.get('open') === row.key} />)
        )}
      </div>
      {records.error === undefined ? null : (
        <Failure
          title={`The log records could not be ${records.data === undefined ? 'loaded' : 'refreshed'}.`}
          error={records.error}
          onRetry={records.loadMore ?? records.reload}
        />
      )}
      {records.loadMore === undefined ? null : (
        <div class="older">
          <button class="btn" type="button" onClick={records.loadMore} disabled={records.isLoadingMore}>
            Older records
          </button>
        </div>
      )}
    </div>
  )
}

function Skeleton() {
  return (
    <>
      {Array.from({ length: 14 }, (_, index) => (
        <div key={index} class="rec">
          <span class="skeleton" />
          <span class="skeleton" />
          <span class="skeleton" />
          <span class="skeleton" />
        </div>
      ))}
    </>
  )
}

function Empty({ words }: { readonly words: string }) {
  const { query } = place.value
  const isFiltered = ['service', 'severity', 'q', 'trace', 'span'].some((name) => query.get(name) !== null)
  return (
    <div class="panel">
      {isFiltered ? (
        <NothingFound title={`No log records match in ${words}`} keep={['range', 'since', 'until', 'live']}>
          <p>The filters leave no record.</p>
        </NothingFound>
      ) : (
        <Blank
          title={`No log records in ${words}`}
          action={
            <a class="btn" href="/ingest">
              Create an ingest token
            </a>
          }
        >
          <p>
            Send logs by OTLP to this service, or set the pipeline variable <code>SVC_OBSERVABILITY_EXPORT</code> to{' '}
            <code>traces,metrics,logs</code> in a project.
          </p>
        </Blank>
      )}
    </div>
  )
}
