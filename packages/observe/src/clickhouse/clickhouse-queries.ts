import { performance } from 'node:perf_hooks'
import type { ObserveQueries } from '../observe-queries.ts'
import { QueryNotSupported } from '../store-queries.ts'
import type { ClickHouse } from './clickhouse-client.ts'
import { type ExporterSchema, readSchema, TRACES } from './exporter-schema.ts'
import { listLogRecords } from './log-queries.ts'
import { findMetric, listMetricNames } from './metric-queries.ts'
import { compareRuns, findFacets, findPipeline, listRuns, readInsights } from './run-queries.ts'
import { listServices, readStatus } from './service-queries.ts'
import type { Source } from './source.ts'
import { findTrace, listTraces } from './trace-queries.ts'

/** How long a list is searched before its page ends early. A statement that runs at the time is not interrupted. */
const MAX_SEARCH_MS = 2_000
/** How long the tables of the database are taken as known. */
const SCHEMA_MS = 60_000

interface ClickHouseQueryOptions {
  readonly db: ClickHouse
  readonly nowMs: () => number
}

/** Returns the queries over the tables that the collector's exporter writes. They change nothing. */
export function clickHouseQueries({ db, nowMs }: ClickHouseQueryOptions): ObserveQueries {
  let known: { readonly schema: Promise<ExporterSchema>; readonly untilMs: number } | undefined
  const schemaOf = (): Promise<ExporterSchema> => {
    if (known === undefined || nowMs() >= known.untilMs) {
      const schema = readSchema(db)
      known = { schema, untilMs: nowMs() + SCHEMA_MS }
      // The next query tries again.
      schema.catch(() => {
        known = undefined
      })
    }
    return known.schema
  }
  const source = async (): Promise<Source> => ({
    db,
    schema: await schemaOf(),
    pipelineTable: TRACES,
    nowMs,
    deadline() {
      const endMs = performance.now() + MAX_SEARCH_MS
      return () => performance.now() >= endMs
    },
  })
  return {
    status: async () => await readStatus(await source()),
    services: async (after, budget) => await listServices(await source(), after, budget),
    runs: async (query, budget) => await listRuns(await source(), query, budget),
    run: async (traceId) => (await findPipeline(await source(), traceId))?.summary,
    facets: async (service) => await findFacets(await source(), service),
    traces: async (query, budget) => await listTraces(await source(), query, budget),
    trace: async (query, budget) => await findTrace(await source(), query, budget),
    metricNames: async (query, budget) => await listMetricNames(await source(), query, budget),
    metric: async (query, budget) => await findMetric(await source(), query, budget),
    logRecords: async (query, budget) => await listLogRecords(await source(), query, budget),
    insights: async (query) => await readInsights(await source(), query),
    compare: async (query) => await compareRuns(await source(), query),
    // The exporter stores no order of arrival.
    live: () => Promise.reject(new QueryNotSupported('live')),
  }
}
