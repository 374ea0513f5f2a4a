export { Exporter, type ExporterOptions } from './exporter.ts'
export { defaultFetchLimits, type FetchLimits } from './fetching/fetch-limits.ts'
export { RunFetcher } from './fetching/run-fetcher.ts'
export { HOOKS_PATH, hooksListener } from './hooks/hooks-listener.ts'
export type { RecordIntake } from './intake/record-intake.ts'
export { type DurableOptions, isDurable } from './options/durable-options.ts'
export { defaultExportLimits, type ExportLimits } from './options/export-limits.ts'
export { type Admitted, admission, type EarlierExport, toEarlierExport, withWarning } from './records/admission.ts'
export type { ExportIdentity, IntakeRequest } from './records/intake-request.ts'
export { type HookProject, type ReceivedBody, readBody } from './records/received-body.ts'
export { exportInstruments, type MetricSample } from './reporting/export-metrics.ts'
export { type DeliverAllOptions, type DeliveryReport, deliverAll } from './sending/deliver-all.ts'
export { DeliveryStops } from './sending/delivery-stops.ts'
export type { Destination } from './sending/destination.ts'
export { EndpointError } from './sending/endpoint-url.ts'
export { DEFAULT_ATTEMPT_TIMEOUT_MS, defaultExportRetry, OtlpEndpoint } from './sending/otlp-endpoint.ts'
export { parseHeaderList, type RequestHeaders, requestHeaders } from './sending/request-headers.ts'
export { addTotals, noTotals, type SignalTotals } from './sending/signal-totals.ts'
export {
  findSource,
  findUnconfiguredSource,
  readSources,
  type Source,
  type Sources,
  SourcesError,
  sourceDestination,
  sourceNamePattern,
} from './sources/sources.ts'
export { destinationOfLane, parseExportKey } from './store/export-key.ts'
export { type ExporterTables, exporterMigrations } from './store/export-tables.ts'
export { dropFetches, FETCH_QUEUE, listTokenRefusals } from './store/fetch-store.ts'
export { EXPORT_QUEUE, findEnqueuedAtMs, findRecordOfDelivery } from './store/record-store.ts'
