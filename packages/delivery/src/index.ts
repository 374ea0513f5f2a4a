export { type AddressPolicy, findBlockReason } from './address-guard.ts'
export { notGlobalReason } from './address-rules.ts'
export { AllowedHostError, AllowedHosts, hostOf } from './allowed-hosts.ts'
export type { CircuitPolicy } from './circuit.ts'
export { type DeliveryTables, deliveryMigrations } from './deliveries.ts'
export * from './delivery.ts'
export { type Attempt, Drain, type DrainOptions, type Send, type Settled } from './drain.ts'
export { drainErrors } from './drain-errors.ts'
export {
  defaultHttpClientLimits,
  HttpClient,
  type HttpClientLimits,
  type HttpReply,
  type HttpRequest,
  type NetworkFailure,
} from './http-client.ts'
export {
  type Dead,
  type Delivered,
  kindOfStatus,
  type Outcome,
  outcomeOfFailure,
  outcomeOfReply,
  type Retry,
} from './outcome.ts'
export * from './queue.ts'
export { nextAttemptAt, type RetryPolicy } from './retry.ts'
export { MAX_RETRY_AFTER_MS, retryAfterMs } from './retry-after.ts'
export {
  type Aborted,
  type Delivery,
  type Expired,
  type RetryContext,
  type RetryNotice,
  sendWithRetry,
} from './send-with-retry.ts'
