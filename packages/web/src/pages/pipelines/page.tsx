import { useMemo, useState } from 'preact/hooks'
import type { PipelineRun } from '../../api/answers.ts'
import { getInsights } from '../../api/insights.ts'
import { useLive } from '../../api/live.ts'
import { getFacets, listPipelines } from '../../api/pipelines.ts'
import { useKeys } from '../../app/keys.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { CsvButton } from '../../components/csv-button.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { CheckFilter, FilterBar, SelectFilter, TextFilter } from '../../components/filter-bar.tsx'
import { forgeLook } from '../../components/forge-names.ts'
import { nowMs } from '../../components/now.ts'
import { Blank, Failure, NothingFound, useDelayed } from '../../components/page-states.tsx'
import { parseRange, type TimeRange } from '../../components/range.ts'
import { RangeControl } from '../../components/range-control.tsx'
import { type PagedList, usePagedList, useResource } from '../../components/resource.ts'
import { filterStatuses, statusWord } from '../../components/status-words.ts'
import { Switch } from '../../components/switch.tsx'
import { agoText, toMilliseconds } from '../../components/time.ts'
import { place, setQuery } from '../../location.ts'
import { Findings } from './findings.tsx'
import './pipelines.css'
import { runColumns } from './run-columns.tsx'
import { csvHeaders, csvRow } from './run-csv.ts'
import { mergeRuns, runKey, summaryText } from './run-words.ts'
import { Strip } from './strip.tsx'

const PAGE_SIZE = 100
const FILTERS = ['status', 'project', 'forge', 'ref', 'service', 'job', 'children', 'q'] as const
/** The longest text that the service searches. */
const MAX_SEARCH_LENGTH = 200

/** The page Pipelines: the runs of every project, the newest first. */
export default function PipelinesPage() {
  const { query } = place.value
  const isLive = query.get('live') !== '0' && query.get('until') === null
  const filters = { ...Object.fromEntries(FILTERS.map((name) => [name, query.get(name)])), q: query.get('q')?.trim() }
  const key = JSON.stringify([filters, query.get('range'), query.get('since'), query.get('until')])
  const load = (cursor: string | null, signal: AbortSignal) =>
    listPipelines({ ...filters, ...parseRange(query, Date.now()).query, limit: PAGE_SIZE, cursor }, signal)
  const runs = usePagedList<PipelineRun>(key, load)
  const facets = useResource('facets', (signal) => getFacets({}, signal))
  const live = useLive(isLive ? { kind: 'pipelines', ...filters } : null, () => runs.refresh(mergeRuns))
  const [actions] = useState(() => ({ reload: runs.reload }))
  useKeys(
    'Pipelines',
    useMemo(
      () => [
        { keys: 'r', label: 'Refresh', run: () => actions.reload() },
        {
          keys: '.',
          label: 'Live on or off',
          run: () => setQuery({ live: place.peek().query.get('live') === '0' ? null : '0' }),
        },
      ],
      [actions],
    ),
  )
  const found = runs.data ?? []
  const newest = found[0] === undefined ? undefined : agoText(toMilliseconds(found[0].start_ns), nowMs.value)
  return (
    <>
      <div class="head">
        <h1>Pipelines</h1>
        <div class="end">
          <Switch isOn={isLive} onChange={(isOn) => setQuery({ live: isOn ? null : '0' })}>
            Live
          </Switch>
          <span class="vh" role="status">
            {live === 'connecting' ? 'Live updates are being connected' : ''}
          </span>
          <RangeControl />
        </div>
      </div>
      <Findings project={query.get('project')} service={query.get('service')} />
      <FilterBar
        label="Filter pipeline runs"
        summary={runs.data === undefined ? '' : summaryText(found, runs.loadMore !== undefined, newest)}
      >
        <SelectFilter label="Status" name="status" any="Any" options={filterStatuses} />
        <SelectFilter label="Project" name="project" any="All projects" options={facets.data?.projects ?? []} />
        <SelectFilter
          label="Forge"
          name="forge"
          any="All forges"
          options={(facets.data?.forges ?? []).map((value) => ({ value, label: forgeLook(value).label }))}
        />
        <TextFilter
          label="Ref"
          name="ref"
          placeholder="Any branch or tag"
          suggestions={(facets.data?.refs ?? []).slice(0, 100)}
        />
        <SelectFilter label="Service" name="service" any="All services" options={facets.data?.services ?? []} />
        <TextFilter
          label="Search"
          name="q"
          type="search"
          placeholder="Title, name, ref, user"
          maxLength={MAX_SEARCH_LENGTH}
        />
        <TextFilter label="Job" name="job" placeholder="Any job" />
        <CheckFilter label="Child pipelines" name="children" />
      </FilterBar>
      <Runs runs={runs} range={parseRange(query, nowMs.value)} isEmptyStore={facets.data?.services.length === 0} />
    </>
  )
}

interface RunsProps {
  readonly runs: PagedList<PipelineRun>
  readonly range: TimeRange
  readonly isEmptyStore: boolean
}

function Runs({ runs, range, isEmptyStore }: RunsProps) {
  const found = runs.data ?? []
  const showsSkeleton = useDelayed(runs.isLoading && runs.data === undefined)
  const hasOlder = runs.loadMore !== undefined
  const { query } = place.value
  // The counts know only these filters.
  const filters = { project: query.get('project'), ref: query.get('ref'), service: query.get('service') }
  const isCounted = FILTERS.every((name) => Object.hasOwn(filters, name) || query.get(name) === null)
  const countsKey = [filters, query.get('range'), query.get('since'), query.get('until')]
  const loaded = useResource(hasOlder && isCounted ? JSON.stringify(countsKey) : null, (signal) =>
    getInsights({ ...filters, ...parseRange(query, Date.now()).query }, signal),
  )
  const counts = hasOlder && isCounted ? loaded.data : undefined
  if (runs.data === undefined && runs.error !== undefined && !runs.isLoading) {
    return (
      <div class="panel">
        <Failure title="The runs could not be loaded." error={runs.error} onRetry={runs.reload} />
      </div>
    )
  }
  if (runs.data !== undefined && found.length === 0) {
    return (
      <div class="panel">
        <Empty range={range} isEmptyStore={isEmptyStore} />
      </div>
    )
  }
  const oldestMs = found.length === 0 ? range.sinceMs : toMilliseconds(found.at(-1)?.start_ns ?? '0')
  return (
    <div class="panel">
      <Strip
        runs={found}
        sinceMs={hasOlder && counts === undefined ? Math.max(range.sinceMs, oldestMs) : range.sinceMs}
        untilMs={range.untilMs}
        endsNow={range.name !== null}
        counts={counts}
        hasOlder={hasOlder}
      />
      <p class="note csv">
        <CsvButton table="Pipeline runs" headers={csvHeaders} rows={() => found.map(csvRow)} />
      </p>
      <DataTable
        label="Pipeline runs"
        class="runs"
        columns={runColumns}
        rows={found}
        rowKey={runKey}
        isBusy={runs.isLoading}
        skeletonRows={showsSkeleton ? 12 : 0}
        rowCount={runs.loadMore === undefined ? found.length + 1 : -1}
      />
      {runs.error === undefined ? null : (
        <Failure
          title={`The runs could not be ${runs.data === undefined ? 'loaded' : 'refreshed'}.`}
          error={runs.error}
          onRetry={runs.loadMore ?? runs.reload}
        />
      )}
      <Older runs={runs} />
    </div>
  )
}

function Older({ runs }: { readonly runs: PagedList<PipelineRun> }) {
  if (runs.loadMore === undefined) return null
  return (
    <div class="older">
      <button class="btn" type="button" onClick={runs.loadMore} disabled={runs.isLoadingMore}>
        Older runs
      </button>
    </div>
  )
}

const SETTING = 'SVC_OBSERVABILITY_EXPORT=traces,metrics,logs'

function Empty({ range, isEmptyStore }: Omit<RunsProps, 'runs'>) {
  const { query } = place.value
  const active = FILTERS.filter((name) => name !== 'children' && query.get(name) !== null)
  if (active.length > 0) {
    const filters = active.map((name) => `${labels[name]} is ${wordOf(name, query.get(name) ?? '')}`)
    return (
      <NothingFound title={`No runs match in ${range.words}`} keep={['range', 'since', 'until', 'live']}>
        <p>The filters: {filters.join('; ')}.</p>
      </NothingFound>
    )
  }
  if (isEmptyStore) {
    return (
      <Blank
        title="No telemetry yet"
        action={<CopyButton class="btn primary" text={SETTING} label="Copy the setting" />}
      >
        <p>
          Set the pipeline variable <code>SVC_OBSERVABILITY_EXPORT</code> to <code>traces,metrics,logs</code> in a
          project. Its next finished pipeline appears here.
        </p>
      </Blank>
    )
  }
  return (
    <Blank
      title={`No runs in ${range.words}`}
      action={
        <a class="btn" href="/pipelines?range=30d">
          Show the last 30 days
        </a>
      }
    >
      <p>Pipelines that finish appear here. The store keeps telemetry for a limited time.</p>
    </Blank>
  )
}

const labels: Readonly<Record<string, string>> = {
  status: 'Status',
  project: 'Project',
  forge: 'Forge',
  ref: 'Ref',
  service: 'Service',
  job: 'Job',
  q: 'Search',
}

function wordOf(name: string, value: string): string {
  if (name === 'forge') return forgeLook(value).label
  return name === 'status' ? statusWord(value).label : value
}
