import { useMemo } from 'preact/hooks'
import { listServices, listTraces, type TraceSummary } from '../../api/traces.ts'
import { useKeys } from '../../app/keys.ts'
import { CsvButton } from '../../components/csv-button.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { FilterBar, SelectFilter, TextFilter } from '../../components/filter-bar.tsx'
import { nowMs } from '../../components/now.ts'
import { Blank, Failure, NothingFound, useDelayed } from '../../components/page-states.tsx'
import { parseRange } from '../../components/range.ts'
import { RangeControl } from '../../components/range-control.tsx'
import { type PagedList, usePagedList, useResource } from '../../components/resource.ts'
import { Scroll } from '../../components/scroll.tsx'
import { numberText } from '../../components/text.tsx'
import { toMilliseconds } from '../../components/time.ts'
import { place } from '../../location.ts'
import { Scatter } from './scatter.tsx'
import { traceColumns, traceSeconds } from './trace-columns.tsx'
import { attributeConditions, parseDuration } from './trace-filters.ts'
import { traceErrors, traceName } from './trace-words.ts'

const PAGE_SIZE = 100
const FILTERS = ['service', 'status', 'attribute', 'longer'] as const

/** The page Traces: the traces of every service, the latest first, and how long they took. */
export default function TracesPage() {
  const { query } = place.value
  const filters = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)]))
  const key = JSON.stringify([filters, query.get('range'), query.get('since'), query.get('until')])
  const traces = usePagedList<TraceSummary>(key, (cursor, signal) =>
    listTraces(
      {
        ...parseRange(query, Date.now()).query,
        service: filters.service,
        status: filters.status,
        attribute: attributeConditions(filters.attribute ?? null),
        min_duration_ns: parseDuration(filters.longer ?? null),
        limit: PAGE_SIZE,
        cursor,
      },
      signal,
    ),
  )
  const services = useResource('services', (signal) => listServices(signal))
  const { reload } = traces
  useKeys(
    'Traces',
    useMemo(() => [{ keys: 'r', label: 'Refresh', run: reload }], [reload]),
  )
  return (
    <>
      <div class="head">
        <h1>Traces</h1>
        <div class="end">
          <RangeControl />
        </div>
      </div>
      <FilterBar
        label="Filter traces"
        summary={traces.data === undefined ? '' : summaryOf(traces.data, traces.loadMore !== undefined)}
      >
        <SelectFilter
          label="Service"
          name="service"
          any="All services"
          options={(services.data ?? []).map(({ name }) => name)}
        />
        <SelectFilter label="Status" name="status" any="Any" options={[{ value: 'error', label: 'With errors' }]} />
        <TextFilter label="Longer than" name="longer" placeholder="1.5 s, 200 ms" />
        <TextFilter label="Attribute" name="attribute" placeholder="http.route=/cart" class="wide" />
      </FilterBar>
      <Traces traces={traces} />
    </>
  )
}

function summaryOf(traces: readonly TraceSummary[], hasMore: boolean): string {
  const failed = traces.filter((trace) => traceErrors(trace) > 0).length
  const count = `${numberText(traces.length)} ${traces.length === 1 ? 'trace' : 'traces'}`
  return `${hasMore ? `The latest ${count}` : count}, ${failed} with errors`
}

function Traces({ traces }: { readonly traces: PagedList<TraceSummary> }) {
  const range = parseRange(place.value.query, nowMs.value)
  const isLong = useDelayed(traces.isLoading && traces.data === undefined)
  if (traces.data === undefined && traces.error !== undefined && !traces.isLoading) {
    return (
      <div class="panel">
        <Failure title="The traces could not be loaded." error={traces.error} onRetry={traces.reload} />
      </div>
    )
  }
  if (traces.data?.length === 0) return <Empty words={range.words} />
  return (
    <div class="panel">
      <Scatter traces={traces.data ?? []} />
      <p class="note csv">
        <CsvButton
          table="Traces"
          headers={['trace_id', 'name', 'ref', 'services', 'started', 'duration_seconds', 'spans', 'errors']}
          rows={() =>
            (traces.data ?? []).map((trace) => [
              ...[trace.trace_id, traceName(trace), trace.run?.ref, trace.services.join(' ')],
              new Date(toMilliseconds(trace.start_time_unix_nano)).toISOString(),
              ...[traceSeconds(trace), trace.spans, traceErrors(trace)],
            ])
          }
        />
      </p>
      <Scroll label="Traces">
        <DataTable
          label="Traces"
          class="traces-list"
          columns={traceColumns}
          rows={traces.data ?? []}
          rowKey={({ trace_id }) => trace_id}
          isBusy={traces.isLoading}
          skeletonRows={isLong ? 12 : 0}
          rowCount={traces.loadMore === undefined ? undefined : -1}
        />
      </Scroll>
      {traces.error === undefined ? null : (
        <Failure
          title={`The traces could not be ${traces.data === undefined ? 'loaded' : 'refreshed'}.`}
          error={traces.error}
          onRetry={traces.loadMore ?? traces.reload}
        />
      )}
      {traces.loadMore === undefined ? null : (
        <div class="older">
          <button class="btn" type="button" onClick={traces.loadMore} disabled={traces.isLoadingMore}>
            Older traces
          </button>
        </div>
      )}
    </div>
  )
}

function Empty({ words }: { readonly words: string }) {
  const isFiltered = FILTERS.some((name) => place.value.query.get(name) !== null)
  return (
    <div class="panel">
      {isFiltered ? (
        <NothingFound title={`No traces match in ${words}`}>
          <p>The filters leave no trace.</p>
        </NothingFound>
      ) : (
        <Blank
          title={`No traces in ${words}`}
          action={
            <a class="btn" href="/ingest">
              Create an ingest token
            </a>
          }
        >
          <p>Send traces by OTLP to this service; a trace appears when its first span arrives.</p>
        </Blank>
      )}
    </div>
  )
}
