import type { Kysely } from 'kysely'
import type { RunHistory } from '../insights/history/run-history.ts'
import { compareRuns, readInsights } from '../insights/insights-queries.ts'
import { readLive } from '../live/live-queries.ts'
import { listLogRecords } from '../queries/log-queries.ts'
import { findMetricIntervals } from '../queries/metric-interval-queries.ts'
import { findMetric, listMetricNames } from '../queries/metric-queries.ts'
import { findFacets, findRun, listRuns } from '../queries/pipeline-queries.ts'
import { listServices } from '../queries/service-queries.ts'
import { listTraces } from '../queries/trace-queries.ts'
import { findTrace } from '../queries/trace-spans.ts'
import type { ObserveTables } from '../schema/tables.ts'
import type { StoreBounds } from '../store/observe-limits.ts'
import { storeStatus } from '../store/status.ts'
import type { ObserveQueries } from './observe-queries.ts'

/** Returns the queries of the embedded store. Each blocks its thread. */
export const sqliteQueries = (db: Kysely<ObserveTables>, bounds: StoreBounds, history: RunHistory): ObserveQueries => ({
  status: () => storeStatus(db, bounds),
  services: (after, budget) => listServices(db, after, budget),
  runs: (query, budget) => listRuns(db, query, budget),
  run: (traceId) => findRun(db, traceId),
  facets: (service, budget) => findFacets(db, service, budget),
  traces: (query, budget) => listTraces(db, query, budget),
  trace: (query, budget) => findTrace(db, query, budget),
  metricNames: (query, budget) => listMetricNames(db, query, budget),
  metric: (query, budget) => findMetric(db, query, budget),
  metricIntervals: (query, budget) => findMetricIntervals(db, query, budget),
  logRecords: (query, budget) => listLogRecords(db, query, budget),
  insights: (query) => readInsights(history, query),
  compare: (query) => compareRuns(db, query),
  live: (query) => readLive(db, query),
})
