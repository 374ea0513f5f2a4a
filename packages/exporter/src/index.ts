export { type DeliverAllOptions, type DeliveryReport, deliverAll } from './deliver-all.ts'
export { DeliveryStops } from './delivery-stops.ts'
export { EndpointError } from './endpoint-url.ts'
export {
  type ChunkAttempt,
  type ChunkDelivery,
  DEFAULT_ATTEMPT_TIMEOUT_MS,
  defaultExportRetry,
  OtlpEndpoint,
  type OtlpEndpointOptions,
  type SendOptions,
} from './otlp-endpoint.ts'
export { type PlannedExport, type SendExportsOptions, sendExports } from './send-exports.ts'
export { addTotals, noTotals, type SignalTotals } from './signal-totals.ts'
