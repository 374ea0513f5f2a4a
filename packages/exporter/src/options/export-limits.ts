import type { CircuitPolicy, RetryPolicy } from '@penstock/delivery'
import { type ChunkLimits, defaultChunkLimits } from '@penstock/otlp'
import { DEFAULT_ATTEMPT_TIMEOUT_MS } from '../sending/otlp-endpoint.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** The limits of the durable export. */
export interface ExportLimits {
  /** The highest number of deliveries claimed together. */
  readonly batchSize: number
  /** The highest number of batches in progress: in total, and per lane. */
  readonly concurrency: number
  readonly laneConcurrency: number
  /** The lease of a claim; longer than `budgetMs` and one attempt together. */
  readonly leaseMs: number
  /** The time after its claim during which requests of a batch may be started. */
  readonly budgetMs: number
  readonly attemptTimeoutMs: number
  /** How often the exporter looks for exports that other processes have enqueued. */
  readonly pollMs: number
  readonly retry: RetryPolicy
  readonly circuit: CircuitPolicy
  readonly chunk: ChunkLimits
  /** The size limit of a request that several exports share, before compression. */
  readonly maxSharedBytes: number
  /** The number of cached endpoints, one per URL and token. */
  readonly maxEndpoints: number
  /**
   * The limit on the total JSON length of records that stay parsed in memory until their other signals are sent. Parsed
   * records are several times as large as their JSON.
   */
  readonly maxCachedCharacters: number
  /** How long delivered exports and their records are kept, so that they can be listed. */
  readonly keepDeliveredMs: number
  /** How long dead exports and their records are kept after the last attempt. */
  readonly keepDeadMs: number
  /**
   * How long the history of a pipeline is kept after its last record or hook. A later record is
   * exported again, with the same ids.
   */
  readonly keepPipelinesMs: number
  readonly keepJobHooksMs: number
  /** How often expired rows are deleted. */
  readonly retentionEveryMs: number
  /** The limits of a transaction that several bodies share. */
  readonly maxGroup: number
  readonly maxGroupCharacters: number
  /** The limits of bodies that wait for a transaction; further ones are refused. */
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
