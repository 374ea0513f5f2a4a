export type { CircuitPolicy } from './queue/circuit.ts'
export { type DeliveryTables, deliveriesIn, deliveriesWithin, deliveryMigrations } from './queue/deliveries.ts'
export * from './queue/delivery.ts'
export { type Attempt, Drain, type Send, type Settled } from './queue/drain.ts'
export { drainErrors } from './queue/drain-errors.ts'
export * from './queue/queue.ts'
export { type AddressPolicy, findBlockReason } from './sending/address-guard.ts'
export { notGlobalReason } from './sending/address-rules.ts'
export { AllowedHostError, AllowedHosts, getHost } from './sending/allowed-hosts.ts'
export {
  defaultHttpClientLimits,
  HttpClient,
  type HttpReply,
  type HttpRequest,
  type NetworkFailure,
} from './sending/http-client.ts'
export {
  type Dead,
  type Delivered,
  type Outcome,
  outcomeFromFailure,
  outcomeFromReply,
  type Retry,
  toOutcomeKind,
} from './sending/outcome.ts'
export { type RateLimit, type RateLimitHeaders, readRateLimit } from './sending/rate-limit.ts'
export { nextAttemptAt, type RetryPolicy } from './sending/retry.ts'
export { MAX_RETRY_AFTER_MS, retryAfterMs } from './sending/retry-after.ts'
export {
  type Delivery,
  type Expired,
  type RetryContext,
  type RetryNotice,
  sendWithRetry,
} from './sending/send-with-retry.ts'
