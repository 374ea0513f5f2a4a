import { useMemo } from 'preact/hooks'
import { getMetric, getMetricIntervals, listMetricNames } from '../../api/metrics.ts'
import { listServices } from '../../api/traces.ts'
import { useKeys } from '../../app/keys.ts'
import { FilterBar, SelectFilter, TextFilter } from '../../components/filter-bar.tsx'
import { Blank, Failure, NothingFound, useDelayed } from '../../components/page-states.tsx'
import { parseRange } from '../../components/range.ts'
import { RangeControl } from '../../components/range-control.tsx'
import { useResource } from '../../components/resource.ts'
import { numberText } from '../../components/text.tsx'
import { place, withQuery } from '../../location.ts'
import { hasIntervals, intervalSeconds, MAX_LINES } from './metric-intervals.ts'
import { seriesText } from './metric-points.ts'
import { MetricView } from './metric-view.tsx'
import './metrics.css'

const MAX_NAMES = 1000
/** Per-run metrics have a series for each pipeline. */
const MAX_SERIES = 1000

/** The page Metrics: the metrics of every service, and one of them over time. */
export default function MetricsPage() {
  const { query } = place.value
  const service = query.get('service')
  const names = useResource(
    service ?? '',
    async (signal) => (await listMetricNames({ service, limit: MAX_NAMES }, signal)).items,
  )
  const services = useResource('services', (signal) => listServices(signal))
  const wanted = query.get('q')?.toLowerCase() ?? ''
  const found = (names.data ?? []).filter(({ name }) => name.toLowerCase().includes(wanted))
  const name = query.get('name') ?? found[0]?.name ?? null
  const key =
    name === null ? null : JSON.stringify([name, service, query.get('range'), query.get('since'), query.get('until')])
  const groupBy = query.get('group')
  const metric = useResource(key === null ? null : JSON.stringify([key, groupBy]), async (signal) => {
    const range = parseRange(query, Date.now())
    const shared = { name, service, ...range.query }
    const points = await getMetric({ ...shared, series: MAX_SERIES }, signal)
    if (!hasIntervals(points)) return { points, intervals: undefined }
    const asked = { group_by: groupBy, interval_seconds: intervalSeconds(range), groups: MAX_LINES }
    return { points, intervals: await getMetricIntervals({ ...shared, ...asked }, signal) }
  })
  const { reload } = metric
  useKeys(
    'Metrics',
    useMemo(() => [{ keys: 'r', label: 'Refresh', run: reload }], [reload]),
  )
  const isLoading = metric.isLoading || (name === null && names.isLoading)
  const isLong = useDelayed(isLoading && metric.data === undefined)
  return (
    <>
      <div class="head">
        <h1>Metrics</h1>
        <div class="end">
          <RangeControl />
        </div>
      </div>
      <FilterBar
        label="Filter metrics"
        summary={
          names.data === undefined ? '' : `${numberText(found.length)} ${found.length === 1 ? 'metric' : 'metrics'}`
        }
      >
        <SelectFilter
          label="Service"
          name="service"
          any="All services"
          options={(services.data ?? []).map((each) => each.name)}
        />
        <TextFilter label="Search" name="q" type="search" placeholder="Words in the name" />
      </FilterBar>
      {names.error !== undefined && !names.isLoading ? (
        <div class="panel">
          <Failure title="The metrics could not be loaded." error={names.error} onRetry={names.reload} />
        </div>
      ) : names.data?.length === 0 ? (
        <Empty />
      ) : (
        <div class="metrics">
          <nav class="panel metric-names" aria-label="Metrics by name" aria-busy={names.isLoading}>
            {found.length === 0 && names.data !== undefined ? <p class="note">No name has these words.</p> : null}
            {found.map((each) => (
              <a
                key={each.name}
                href={withQuery({ name: each.name })}
                aria-current={each.name === name ? 'true' : undefined}
                title={each.description.slice(0, 300)}
              >
                <bdi>{each.name}</bdi> <small>{seriesText(each.series)}</small>
              </a>
            ))}
          </nav>
          <div aria-busy={isLoading}>
            {metric.error !== undefined && !metric.isLoading ? (
              <div class="panel">
                <Failure title="The metric could not be loaded." error={metric.error} onRetry={reload} />
              </div>
            ) : metric.data === undefined ? (
              <div class="panel waiting">{isLong ? <span class="skeleton" /> : null}</div>
            ) : metric.data.points.series.every(({ points }) => points.length === 0) ? (
              <div class="panel">
                <Blank
                  title={`No data points in ${parseRange(query, Date.now()).words}`}
                  action={
                    <a class="btn" href={withQuery({ range: '30d', since: null, until: null })}>
                      Show the last 30 days
                    </a>
                  }
                >
                  <p>Select a longer range, or another metric.</p>
                </Blank>
              </div>
            ) : (
              <MetricView
                metric={metric.data.points}
                intervals={metric.data.intervals}
                about={names.data?.find((each) => each.name === name)}
              />
            )}
          </div>
        </div>
      )}
    </>
  )
}

function Empty() {
  return (
    <div class="panel">
      {place.value.query.get('service') === null ? (
        <Blank
          title="No metrics yet"
          action={
            <a class="btn" href="/ingest">
              Create an ingest token
            </a>
          }
        >
          <p>Send metrics by OTLP to this service. A metric appears when its first data point arrives.</p>
        </Blank>
      ) : (
        <NothingFound title="This service has no metrics">
          <p>The filter Service leaves none.</p>
        </NothingFound>
      )}
    </div>
  )
}
