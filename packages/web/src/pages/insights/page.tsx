import { useEffect, useMemo } from 'preact/hooks'
import type { Insights } from '../../api/answers.ts'
import { getInsights } from '../../api/insights.ts'
import { getFacets } from '../../api/pipelines.ts'
import { useKeys } from '../../app/keys.ts'
import { FilterBar, SelectFilter, TextFilter } from '../../components/filter-bar.tsx'
import { FindingText } from '../../components/finding.tsx'
import { nowMs } from '../../components/now.ts'
import { Blank, Failure, NothingFound, useDelayed } from '../../components/page-states.tsx'
import { parseRange } from '../../components/range.ts'
import { RangeControl } from '../../components/range-control.tsx'
import { useResource } from '../../components/resource.ts'
import { numberText } from '../../components/text.tsx'
import { localText } from '../../components/time.ts'
import { place, withQuery } from '../../location.ts'
import { Durations } from './durations.tsx'
import { Figures } from './figures.tsx'
import { type RunsLink, runsAddress } from './job-links.ts'
import { Minutes } from './minutes.tsx'
import { SlowestJobs } from './slowest-jobs.tsx'
import { FailingJobs, FlakyJobs, Retries } from './unstable-jobs.tsx'
import './insights.css'

/** The number of rows of a list that the service returns unless it is asked for more, and the highest number. */
const DEFAULT_ROWS = 50
const MAX_ROWS = 500
const FILTERS = ['project', 'ref', 'service'] as const

/** The page Insights: how long pipelines took, what made them slow, and what failed without reason. */
export default function InsightsPage() {
  const { query } = place.value
  const filters = Object.fromEntries(FILTERS.map((name) => [name, query.get(name)]))
  // A job that the address names may be far below in its list.
  const limit = query.get('rows') === 'all' || query.get('job') !== null ? MAX_ROWS : null
  const key = JSON.stringify([filters, query.get('range'), query.get('since'), query.get('until'), limit])
  const insights = useResource(key, (signal) =>
    getInsights({ ...filters, ...parseRange(query, Date.now()).query, limit }, signal),
  )
  const facets = useResource('facets', (signal) => getFacets({}, signal))
  const { reload } = insights
  useKeys(
    'Insights',
    useMemo(() => [{ keys: 'r', label: 'Refresh', run: reload }], [reload]),
  )
  const range = parseRange(query, nowMs.value)
  const summary =
    insights.data === undefined
      ? ''
      : `${numberText(insights.data.totals.runs)} runs, ${localText(range.sinceMs, 'day', nowMs.value)} to ${localText(range.untilMs, 'day', nowMs.value)}, compared with the same time before${insights.data.truncated ? '; older runs may be missing' : ''}`
  return (
    <>
      <div class="head">
        <h1>Insights</h1>
        <div class="end">
          <RangeControl />
        </div>
      </div>
      <FilterBar label="Filter insights" summary={summary}>
        <SelectFilter label="Project" name="project" any="All projects" options={facets.data?.projects ?? []} />
        <TextFilter label="Ref" name="ref" placeholder="Any branch or tag" suggestions={facets.data?.refs ?? []} />
        <SelectFilter label="Service" name="service" any="All services" options={facets.data?.services ?? []} />
      </FilterBar>
      {insights.data === undefined ? (
        <Waiting error={insights.error} isLoading={insights.isLoading} onRetry={reload} />
      ) : (
        <Loaded
          insights={insights.data}
          limit={limit ?? DEFAULT_ROWS}
          isBusy={insights.isLoading}
          error={insights.error}
          onRetry={reload}
        />
      )}
    </>
  )
}

interface WaitingProps {
  readonly error: Parameters<typeof Failure>[0]['error'] | undefined
  readonly isLoading: boolean
  readonly onRetry: () => void
}

function Waiting({ error, isLoading, onRetry }: WaitingProps) {
  const isLong = useDelayed(isLoading)
  if (error !== undefined && !isLoading) {
    return (
      <div class="panel">
        <Failure title="The insights could not be loaded." error={error} onRetry={onRetry} />
      </div>
    )
  }
  return (
    <div class="ins" aria-busy="true">
      <section class="panel waiting" aria-label="Duration">
        {isLong ? <span class="skeleton" /> : null}
      </section>
    </div>
  )
}

interface LoadedProps {
  readonly insights: Insights
  /** The number of rows of a list that the service returns at most. */
  readonly limit: number
  readonly isBusy: boolean
  readonly error: WaitingProps['error']
  readonly onRetry: () => void
}

function Loaded({ insights, limit, isBusy, error, onRetry }: LoadedProps) {
  const at = place.value
  const { query } = at
  // The tables are not there yet when the browser looks for the part that the address names.
  useEffect(() => {
    document.getElementById(at.fragment)?.scrollIntoView()
  }, [at])
  const range = parseRange(query, nowMs.value)
  const ref = query.get('ref')
  const span = { since: range.query.since, until: range.query.until ?? new Date(range.untilMs).toISOString() }
  const lists: readonly (readonly unknown[])[] = [
    ...[insights.slowest_jobs, insights.flaky_jobs, insights.failing_jobs, insights.retries],
    ...(['project', 'runner', 'tag'] as const).map((by) => insights.minutes.filter((entry) => entry.by === by)),
  ]
  const service = query.get('service')
  const runsLink: RunsLink = (project, job) =>
    // The jobs of child pipelines count too.
    runsAddress(span, { project, ref, service, ...(job !== undefined && { job, children: '1' }) })
  if (insights.totals.runs === 0 && insights.slowest_jobs.length === 0) return <Empty words={range.words} />
  return (
    <>
      {error === undefined ? null : (
        <div class="panel">
          <Failure title="The insights could not be refreshed." error={error} onRetry={onRetry} />
        </div>
      )}
      <div class="ins" aria-busy={isBusy}>
        <div class="ins-side">
          <Figures insights={insights} />
          {insights.findings.length === 0 ? null : (
            <section class="panel stands" aria-labelledby="stands-out">
              <h2 id="stands-out">Stands out</h2>
              <ul>
                {insights.findings.map((finding) => (
                  <li key={finding.rule}>
                    <FindingText finding={finding} />
                  </li>
                ))}
              </ul>
            </section>
          )}
        </div>
        <Durations insights={insights} filters={{ project: query.get('project'), ref }} />
      </div>
      <SlowestJobs jobs={insights.slowest_jobs} runsLink={runsLink} />
      <div class="two">
        <FlakyJobs jobs={insights.flaky_jobs} runsLink={runsLink} />
        <Minutes minutes={insights.minutes} total={insights.total_minutes} runsLink={runsLink} limit={limit} />
      </div>
      <div class="two">
        <FailingJobs jobs={insights.failing_jobs} runsLink={runsLink} />
        <Retries jobs={insights.retries} runsLink={runsLink} />
      </div>
      {lists.some(({ length }) => length === DEFAULT_ROWS) ? (
        <p class="more-rows">
          <a class="btn" href={withQuery({ rows: 'all' })}>
            Show up to {MAX_ROWS} rows in each list
          </a>
        </p>
      ) : null}
    </>
  )
}

function Empty({ words }: { readonly words: string }) {
  const isFiltered = FILTERS.some((name) => place.value.query.get(name) !== null)
  return (
    <div class="panel">
      {isFiltered ? (
        <NothingFound title={`No finished runs match in ${words}`}>
          <p>The filters leave no run to count.</p>
        </NothingFound>
      ) : (
        <Blank
          title={`No finished runs in ${words}`}
          action={
            <a class="btn" href="/insights?range=30d">
              Show the last 30 days
            </a>
          }
        >
          <p>Insights count finished pipelines. The store keeps telemetry for a limited time.</p>
        </Blank>
      )}
    </div>
  )
}
