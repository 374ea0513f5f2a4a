import type { CircuitPolicy, RetryPolicy } from '@penstock/delivery'
import { type ChunkLimits, defaultChunkLimits } from '@penstock/otlp'
import { DEFAULT_ATTEMPT_TIMEOUT_MS } from './otlp-endpoint.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Every bound of the durable export. */
export interface ExportLimits {
  /** Deliveries claimed together, and batches under way: in all, and of one lane. */
  readonly batchSize: number
  readonly concurrency: number
  readonly laneConcurrency: number
  /** Longer than `budgetMs` and an attempt take together. */
  readonly leaseMs: number
  /** Nothing more of a batch is sent so long after its claim. */
  readonly budgetMs: number
  readonly attemptTimeoutMs: number
  /** How often it is looked for what other processes have enqueued. */
  readonly pollMs: number
  readonly retry: RetryPolicy
  readonly circuit: CircuitPolicy
  readonly chunk: ChunkLimits
  /** Of one request that several exports share, before compression. */
  readonly maxSharedBytes: number
  /** Endpoints, by URL and token, that are kept ready. */
  readonly maxEndpoints: number
  /** JSON of the records that are kept read until their other signals are sent; in memory they are several times that. */
  readonly maxCachedCharacters: number
  /** Delivered ones, with their records; for whoever asks what has become of them. */
  readonly keepDeliveredMs: number
  /** Dead ones, with their records, from their last attempt on. */
  readonly keepDeadMs: number
  /** Pipelines from when they were last heard of. One that is heard of later is exported again, under the same ids. */
  readonly keepPipelinesMs: number
  readonly keepJobHooksMs: number
  readonly retentionEveryMs: number
  /** Of one transaction that several bodies share. */
  readonly maxGroup: number
  readonly maxGroupCharacters: number
  /** Bodies that wait for a transaction; whoever comes now comes too soon. */
  readonly maxWaiting: number
  readonly maxWaitingCharacters: number
}

export const defaultExportLimits: ExportLimits = {
  batchSize: 64,
  concurrency: 8,
  laneConcurrency: 4,
  leaseMs: 2 * MINUTE_MS,
  budgetMs: MINUTE_MS,
  attemptTimeoutMs: DEFAULT_ATTEMPT_TIMEOUT_MS,
  pollMs: 1_000,
  retry: { baseMs: 1_000, capMs: 5 * MINUTE_MS, giveUpAfterMs: DAY_MS },
  circuit: { failuresToOpen: 3, baseMs: 1_000, capMs: MINUTE_MS },
  chunk: defaultChunkLimits,
  maxSharedBytes: defaultChunkLimits.maxBytes,
  maxEndpoints: 256,
  maxCachedCharacters: 8 * 1024 * 1024,
  keepDeliveredMs: DAY_MS,
  keepDeadMs: 30 * DAY_MS,
  keepPipelinesMs: 400 * DAY_MS,
  keepJobHooksMs: 7 * DAY_MS,
  retentionEveryMs: 10_000,
  maxGroup: 256,
  maxGroupCharacters: 16 * 1024 * 1024,
  maxWaiting: 4_096,
  maxWaitingCharacters: 128 * 1024 * 1024,
}
