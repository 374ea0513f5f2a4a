import { type Attempt, type ClaimedDelivery, DeliveryQueue, Drain, deliveriesIn, drainErrors } from '@penstock/delivery'
import type { Random } from '@penstock/runtime'
import { findSource, type Sources } from '../sources/sources.ts'
import { enqueueFetch, FETCH_QUEUE, findFetch, listTokenRefusals, type NewFetch } from '../store/fetch-store.ts'
import { delivered, FetchAttempts, type FetchAttemptsOptions } from './fetch-attempts.ts'

interface RunFetcherOptions extends FetchAttemptsOptions {
  readonly random: Random
  /** Returns a claim id that is unique across all processes. */
  readonly newClaim: () => string
  readonly sources: Sources
}

/**
 * Reads runs with hooks that list no jobs from the REST API of their forge, and enqueues their exports. Any number of processes can share
 * the work on one database. A run that cannot be read is exported as its hook describes it.
 */
export class RunFetcher {
  readonly queue: DeliveryQueue
  readonly #options: RunFetcherOptions
  readonly #drain: Drain
  readonly #attempts: FetchAttempts

  constructor(options: RunFetcherOptions) {
    const { db, clock, random, newClaim, log, sources, limits } = options
    this.#options = options
    this.#attempts = new FetchAttempts(options)
    this.queue = new DeliveryQueue(deliveriesIn(db), FETCH_QUEUE)
    this.#drain = new Drain({
      ...limits,
      batchSize: 1,
      // This class ends fetches itself, because their hooks are exported then.
      retry: { ...limits.retry, giveUpAfterMs: Number.POSITIVE_INFINITY },
      queue: this.queue,
      serves: (scope) => findSource(sources, scope) !== undefined,
      clock,
      random,
      newClaim,
      send: (batch, signal) => Promise.all(batch.map((delivery) => this.#fetch(delivery, signal))),
      ...drainErrors({ log, clock, work: 'runs to be read' }, (err) =>
        log.error(
          { event: 'export.run_read_trouble', err },
          'Reading a run failed because of an internal error; it is tried again',
        ),
      ),
    })
  }

  /** Makes the fetcher look for work at once; call it after a transaction that enqueued a fetch has been committed. */
  wake(): void {
    this.#drain.wake()
  }

  /** Enqueues the read of a run that a hook only names. Returns `false` if it is being read already, or has been. */
  async enqueue(fetch: NewFetch): Promise<boolean> {
    const { db, clock } = this.#options
    const isNew = await db.write((tx) => enqueueFetch(tx, this.queue, fetch, clock.nowMs()))
    if (isNew) this.wake()
    return isNew
  }

  /** Reads runs until `signal` aborts. Resolves when the attempts in progress have ended. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#drain.run(signal), this.#runRetention(signal)])
  }

  async #runRetention(signal: AbortSignal): Promise<void> {
    const { db, clock, log, limits, exporter } = this.#options
    const { onError, onRecovered } = drainErrors({ log, clock, work: 'retention of read runs' }, (err) =>
      log.error(
        { event: 'export.retention_failed', err },
        'Old fetches could not be deleted; the next round tries again',
      ),
    )
    while (!signal.aborted) {
      try {
        const nowMs = clock.nowMs()
        await this.queue.prune(nowMs - limits.keepDoneMs)
        await this.queue.prune(nowMs - limits.keepFailedMs, undefined, 'dead')
        exporter.metrics.set('penstock_run_fetch_queue_size', {}, (await this.queue.counts()).open)
        exporter.metrics.set('penstock_run_fetch_refused_tokens', {}, (await listTokenRefusals(db.read)).length)
        onRecovered()
      } catch (error) {
        onError(error)
      }
      await clock.sleep(limits.retentionEveryMs, signal).catch(() => {})
    }
  }

  async #fetch({ subject }: ClaimedDelivery, signal: AbortSignal): Promise<Attempt | undefined> {
    const { db, sources } = this.#options
    const fetch = await findFetch(db.read, subject)
    if (fetch === undefined) return delivered('an earlier attempt has ended it')
    const source = findSource(sources, fetch.scope)
    if (source === undefined) return undefined
    return this.#attempts.make(fetch, source, signal)
  }
}
