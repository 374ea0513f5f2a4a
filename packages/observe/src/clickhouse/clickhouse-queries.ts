import { performance } from 'node:perf_hooks'
import type { Insights, InsightsQuery } from '../insights/insights-queries.ts'
import type { ObserveQueries } from '../ports/observe-queries.ts'
import { QueryNotSupported } from '../ports/store-queries.ts'
import { DerivedHistory, type HistoryLimits } from './derived-history.ts'
import { listLogRecords } from './log-queries.ts'
import { findMetricIntervals } from './metric-interval-queries.ts'
import { findMetric, listMetricNames } from './metric-queries.ts'
import { exporterPipelines, viewPipelines } from './pipeline-source.ts'
import { KnownSpans } from './pipeline-spans.ts'
import { compareRuns, findFacets, findPipeline, listRuns, readInsights } from './run-queries.ts'
import type { ClickHouse } from './schema/clickhouse-client.ts'
import { type ExporterSchema, readSchema } from './schema/exporter-schema.ts'
import { listServices, readStatus } from './service-queries.ts'
import type { Source } from './source.ts'
import { findTrace, listTraces } from './trace-queries.ts'
import { findViews, type ReadyViews, readyViews } from './views/ready-views.ts'
import type { ViewState } from './views/view-maintenance.ts'

/** How long a list is searched before its page ends early. A statement that runs at the time is not interrupted. */
const MAX_SEARCH_MS = 2_000
/** How long the tables of the database are taken as known. */
const TABLES_MS = 60_000

interface ClickHouseQueryOptions {
  readonly db: ClickHouse
  readonly nowMs: () => number
  /** Returns what is done about views at the moment. */
  readonly viewState?: () => ViewState
  readonly historyLimits?: HistoryLimits
}

/** The tables that a database has. */
interface KnownTables {
  readonly schema: ExporterSchema
  readonly views: ReadyViews
}

/** Returns the queries over the tables that the collector's exporter writes, and over the views if there are any. They change nothing. */
export function clickHouseQueries({
  db,
  nowMs,
  viewState = () => ({ kind: 'not_created' }),
  historyLimits,
}: ClickHouseQueryOptions): ObserveQueries {
  let known: { readonly tables: Promise<KnownTables>; readonly untilMs: number; readonly state: string } | undefined
  let history: DerivedHistory | undefined
  const knownSpans = new KnownSpans()
  const tablesOf = (): Promise<KnownTables> => {
    // Views that have just been filled are used at once.
    const state = viewState().kind
    if (known === undefined || performance.now() >= known.untilMs || known.state !== state) {
      const tables = readTables(db)
      known = { tables, untilMs: performance.now() + TABLES_MS, state }
      // The next query tries again.
      tables.catch(() => {
        known = undefined
      })
    }
    return known.tables
  }
  const source = async (): Promise<Source> => {
    const tables = await tablesOf()
    return {
      db,
      ...tables,
      knownSpans,
      pipelines: tables.views.hasPipelines ? viewPipelines : exporterPipelines,
      nowMs,
      deadline() {
        const endMs = performance.now() + MAX_SEARCH_MS
        return () => performance.now() >= endMs
      },
    }
  }
  const insights = async (query: InsightsQuery): Promise<Insights> => {
    const read = await source()
    // Without views there are no times of arrival.
    history = read.views.hasPipelines ? (history ?? new DerivedHistory(historyLimits)) : undefined
    return await readInsights(read, query, history)
  }
  return {
    status: async () => await readStatus(await source(), viewState()),
    services: async (after, budget) => await listServices(await source(), after, budget),
    runs: async (query, budget) => await listRuns(await source(), query, budget),
    run: async (traceId) => (await findPipeline(await source(), traceId))?.summary,
    facets: async (service, budget) => await findFacets(await source(), service, budget),
    traces: async (query, budget) => await listTraces(await source(), query, budget),
    trace: async (query, budget) => await findTrace(await source(), query, budget),
    metricNames: async (query, budget) => await listMetricNames(await source(), query, budget),
    metric: async (query, budget) => await findMetric(await source(), query, budget),
    metricIntervals: async (query, budget) => await findMetricIntervals(await source(), query, budget),
    logRecords: async (query, budget) => await listLogRecords(await source(), query, budget),
    insights,
    compare: async (query) => await compareRuns(await source(), query),
    // The exporter stores no order of arrival.
    live: () => Promise.reject(new QueryNotSupported('live')),
  }
}

async function readTables(db: ClickHouse): Promise<KnownTables> {
  const schema = await readSchema(db)
  return { schema, views: readyViews(await findViews(db)) }
}
