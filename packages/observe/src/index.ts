export type { LogQuery, StoredLogRecord } from './log-queries.ts'
export type { MetricName, MetricQuery, StoredMetric, StoredSeries } from './metric-queries.ts'
export {
  defaultObserveLimits,
  type Observe,
  type ObserveLimits,
  type ObserveOptions,
  openObserve,
  type Receipt,
} from './observe.ts'
export { type ObserveMount, observePath, observeRoutes } from './observe-routes.ts'
export { type ObserveServer, type ObserveServerOptions, observeServer } from './observe-server.ts'
export type { ServiceSummary } from './service-queries.ts'
export type { ObserveStatus } from './status.ts'
export type { StoredTrace, TraceQuery, TraceSummary } from './trace-queries.ts'
