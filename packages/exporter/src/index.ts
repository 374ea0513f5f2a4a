export { type Admitted, admission, type EarlierExport, toEarlierExport, withWarning } from './admission.ts'
export type { BodyReader } from './body-reader.ts'
export { type DeliverAllOptions, type DeliveryReport, deliverAll } from './deliver-all.ts'
export { DeliveryStops } from './delivery-stops.ts'
export type { Destination } from './destination.ts'
export { type DurableOptions, isDurable } from './durable-options.ts'
export { EndpointError } from './endpoint-url.ts'
export { destinationOfLane, type ExportKey, parseExportKey } from './export-key.ts'
export { defaultExportLimits, type ExportLimits } from './export-limits.ts'
export {
  type ExportInstrument,
  type ExportInstrumentName,
  type ExportMetrics,
  exportInstruments,
  type MetricSample,
} from './export-metrics.ts'
export { type ExporterTables, exporterMigrations } from './export-tables.ts'
export { Exporter, type ExporterOptions } from './exporter.ts'
export {
  HOOKS_PATH,
  type HooksOptions,
  hooksListener,
} from './hooks/hooks-listener.ts'
export {
  findSource,
  findUnconfiguredSource,
  readSources,
  type Source,
  type Sources,
  SourcesError,
  sourceDestination,
} from './hooks/sources.ts'
export type { ExportIdentity, ExportPlan, IntakeRequest, IntakeResult } from './intake-request.ts'
export {
  type ChunkAttempt,
  type ChunkDelivery,
  DEFAULT_ATTEMPT_TIMEOUT_MS,
  defaultExportRetry,
  OtlpEndpoint,
  type OtlpEndpointOptions,
  type SendOptions,
} from './otlp-endpoint.ts'
export { type HookProject, type ReceivedBody, readBody } from './received-body.ts'
export type { RecordIntake } from './record-intake.ts'
export { EXPORT_QUEUE, findEnqueuedAtMs, findRecordOfDelivery } from './record-store.ts'
export { addTotals, noTotals, type SignalTotals } from './signal-totals.ts'
