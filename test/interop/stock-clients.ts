import type { Signal } from '../collector/exported-file.ts'
import type { ExportOrder, SdkLanguage } from './client-process.ts'

/** An exporter as its users get it, and how it is known to come back after a retryable answer. */
export interface StockClient {
  readonly id: string
  readonly by: SdkLanguage | 'collector'
  readonly protocol: ExportOrder['protocol']
  readonly signal: Signal
  /** Before its first retry, when it has not been told when; `never`: it does not retry. */
  readonly retryMs: number | 'never'
  /** Waits at least as long as Retry-After or RetryInfo tells it. */
  readonly heedsWait: boolean
}

/**
 * How they retry:
 *
 * - JS over HTTP: 1 s ± 20 %, fixed, then 1.5 times as long, five times, all within 10 s (its timeout), after which it drops.
 *   Retry-After instead of that; one beyond what is left of the 10 s is a drop at once.
 * - JS over gRPC: not at all. Whatever the code is, the export has failed, and the batch is gone.
 * - Python: 1 s ± 20 %, fixed, then twice as long, six attempts within 10 s. Over HTTP Retry-After as in JS. Over gRPC it
 *   looks for RetryInfo in a trailer `google.rpc.retryinfo-bin`, which nobody sends, and not in `grpc-status-details-bin`;
 *   and it retries code 8 also without RetryInfo.
 * - Go: `RetryConfig.InitialInterval` ± 50 %, or the wait it is told if that is longer, until `MaxElapsedTime`.
 * - Collector: `retry_on_failure.initial_interval` ± 50 %, or the wait it is told if that is longer, for 5 min; then it drops.
 */
export const stockClients = [
  { id: 'js-http-json', by: 'js', protocol: 'http/json', signal: 'traces', retryMs: 1_000, heedsWait: true },
  { id: 'js-http-protobuf', by: 'js', protocol: 'http/protobuf', signal: 'metrics', retryMs: 1_000, heedsWait: true },
  { id: 'js-grpc', by: 'js', protocol: 'grpc', signal: 'logs', retryMs: 'never', heedsWait: false },
  { id: 'python-http', by: 'python', protocol: 'http/protobuf', signal: 'logs', retryMs: 1_000, heedsWait: true },
  { id: 'python-grpc', by: 'python', protocol: 'grpc', signal: 'traces', retryMs: 1_000, heedsWait: false },
  { id: 'go-http', by: 'go', protocol: 'http/protobuf', signal: 'traces', retryMs: 2_000, heedsWait: true },
  { id: 'go-grpc', by: 'go', protocol: 'grpc', signal: 'metrics', retryMs: 2_000, heedsWait: true },
  { id: 'collector-json', by: 'collector', protocol: 'http/json', signal: 'logs', retryMs: 2_000, heedsWait: true },
  {
    id: 'collector-proto',
    by: 'collector',
    protocol: 'http/protobuf',
    signal: 'traces',
    retryMs: 2_000,
    heedsWait: true,
  },
  { id: 'collector-grpc', by: 'collector', protocol: 'grpc', signal: 'metrics', retryMs: 2_000, heedsWait: true },
] as const satisfies readonly StockClient[]

export type ClientId = (typeof stockClients)[number]['id']
