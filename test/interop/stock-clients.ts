import type { Signal } from '../collector/exported-file.ts'
import type { ExportOrder, SdkLanguage } from './client-process.ts'

/** An exporter with default settings, and its known behaviour after a retryable answer. */
export interface StockClient {
  readonly id: string
  readonly by: SdkLanguage | 'collector'
  readonly protocol: ExportOrder['protocol']
  readonly signal: Signal
  /** The wait before its first retry without Retry-After; `never` if it does not retry. */
  readonly retryMs: number | 'never'
  /** Whether it waits at least as long as Retry-After or RetryInfo requests. */
  readonly honoursRetryAfter: boolean
}

/**
 * The exporters. Their retries:
 *
 * - JS over HTTP: after 1 s ± 20 %, then 1.5 times as long, up to five times within 10 s (its timeout); then it drops.
 *   Retry-After replaces the wait; if it exceeds the rest of the 10 s, the export is dropped immediately.
 * - JS over gRPC: no retries. The export fails with any code, and the batch is dropped.
 * - Python: after 1 s ± 20 %, then twice as long, six attempts within 10 s. Over HTTP, Retry-After as in JS. Over gRPC it
 *   reads RetryInfo in a trailer `google.rpc.retryinfo-bin`, which no server sends, and not in `grpc-status-details-bin`;
 *   and it retries code 8 also without RetryInfo.
 * - Go: `RetryConfig.InitialInterval` ± 50 %, or the requested wait if that is longer, until `MaxElapsedTime`.
 * - Collector: `retry_on_failure.initial_interval` ± 50 %, or the requested wait if that is longer, for 5 min; then it drops.
 */
export const stockClients = [
  { id: 'js-http-json', by: 'js', protocol: 'http/json', signal: 'traces', retryMs: 1_000, honoursRetryAfter: true },
  {
    id: 'js-http-protobuf',
    by: 'js',
    protocol: 'http/protobuf',
    signal: 'metrics',
    retryMs: 1_000,
    honoursRetryAfter: true,
  },
  { id: 'js-grpc', by: 'js', protocol: 'grpc', signal: 'logs', retryMs: 'never', honoursRetryAfter: false },
  {
    id: 'python-http',
    by: 'python',
    protocol: 'http/protobuf',
    signal: 'logs',
    retryMs: 1_000,
    honoursRetryAfter: true,
  },
  { id: 'python-grpc', by: 'python', protocol: 'grpc', signal: 'traces', retryMs: 1_000, honoursRetryAfter: false },
  { id: 'go-http', by: 'go', protocol: 'http/protobuf', signal: 'traces', retryMs: 2_000, honoursRetryAfter: true },
  { id: 'go-grpc', by: 'go', protocol: 'grpc', signal: 'metrics', retryMs: 2_000, honoursRetryAfter: true },
  {
    id: 'collector-json',
    by: 'collector',
    protocol: 'http/json',
    signal: 'logs',
    retryMs: 2_000,
    honoursRetryAfter: true,
  },
  {
    id: 'collector-proto',
    by: 'collector',
    protocol: 'http/protobuf',
    signal: 'traces',
    retryMs: 2_000,
    honoursRetryAfter: true,
  },
  {
    id: 'collector-grpc',
    by: 'collector',
    protocol: 'grpc',
    signal: 'metrics',
    retryMs: 2_000,
    honoursRetryAfter: true,
  },
] as const satisfies readonly StockClient[]

export type ClientId = (typeof stockClients)[number]['id']
