import type { CircuitPolicy, RetryPolicy } from '@penstock/delivery'

const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** The limits of reading runs from forges. */
export interface FetchLimits {
  /** The size limit of one answer, and of all answers about one run together. */
  readonly answerBytes: number
  readonly runBytes: number
  /** The highest number of requests about one run; a page of jobs is one. */
  readonly requests: number
  /** The highest number of jobs of one run, as in hooks. */
  readonly jobs: number
  /** The timeout of one request. */
  readonly requestTimeoutMs: number
  /** How long requests of one attempt may be started. The next attempt continues with the answers of this one. */
  readonly budgetMs: number
  /** The lease of a claim; longer than `budgetMs` and one request together. */
  readonly leaseMs: number
  /** The highest number of runs that are read at the same time: in total, and per source. */
  readonly concurrency: number
  readonly laneConcurrency: number
  /** How long a read takes that is treated as slow. The runs of slow sources take at most half of all places. */
  readonly slowMs: number
  readonly pollMs: number
  readonly retry: Pick<RetryPolicy, 'baseMs' | 'capMs'>
  readonly circuit: CircuitPolicy
  /** How long a run is tried to be read, after which its hook is exported. */
  readonly giveUpAfterMs: number
  /** The same for a run that no hook describes, which is lost afterwards. A refused token does not end it before. */
  readonly giveUpUnknownAfterMs: number
  /** How long a forge may answer that a run has not ended although its hook says so. */
  readonly unfinishedMs: number
  /** How long a refused token is not tried again. */
  readonly refusedMs: number
  /** How long fetches are kept after they were done, so that a hook that is delivered again causes no requests. */
  readonly keepDoneMs: number
  /** The same after they were given up. */
  readonly keepFailedMs: number
  readonly retentionEveryMs: number
}

export const defaultFetchLimits: FetchLimits = {
  answerBytes: 25 * 1024 * 1024,
  runBytes: 25 * 1024 * 1024,
  requests: 300,
  jobs: 20_000,
  requestTimeoutMs: 30 * SECOND_MS,
  budgetMs: 2 * MINUTE_MS,
  leaseMs: 5 * MINUTE_MS,
  concurrency: 8,
  laneConcurrency: 2,
  slowMs: 10 * SECOND_MS,
  pollMs: SECOND_MS,
  retry: { baseMs: 2 * SECOND_MS, capMs: 5 * MINUTE_MS },
  circuit: { failuresToOpen: 3, baseMs: SECOND_MS, capMs: MINUTE_MS },
  giveUpAfterMs: 6 * HOUR_MS,
  giveUpUnknownAfterMs: 24 * HOUR_MS,
  unfinishedMs: 10 * MINUTE_MS,
  refusedMs: MINUTE_MS,
  keepDoneMs: 24 * HOUR_MS,
  keepFailedMs: HOUR_MS,
  retentionEveryMs: 10 * SECOND_MS,
}
