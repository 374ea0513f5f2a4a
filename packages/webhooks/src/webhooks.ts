import { type Core, type EventListener, type HookCalls, KEPT_PAYLOADS_MS } from '@penstock/core'
import { DeliveryQueue, Drain, deliveriesIn, deliveriesWithin, drainErrors } from '@penstock/delivery'
import { type Log, type Random, RepeatingTask } from '@penstock/runtime'
import { findSavedUrlBlock } from './address-policy.ts'
import { HookDeliverer } from './deliver.ts'
import { hookListener } from './hook-listener.ts'
import { RequestSender } from './request-sender.ts'
import { resendCall, testCall } from './single-calls.ts'

const QUEUE = 'webhooks'
/** Longer than the payload of a delivery may be incomplete or its request unanswered. */
const LEASE_MS = 60_000
const BATCH = 8
const CONCURRENCY = 64
const BATCHES_PER_HOOK = 2
/** Hooks with receivers that take longer share half of the places. Most answer within this time. */
const SLOW_MS = 1_000
const POLL_MS = 1_000
const PRUNE_EVERY_MS = 60_000
const KEPT_MS = 5 * 60_000
const PRUNED_ROWS = 1_000

export interface WebhooksOptions {
  /** The core without listeners; its database has the tables of deliveries too. */
  readonly core: Core
  readonly random: Random
  readonly newClaim: () => string
  readonly log: Log
  /** Default: 10 seconds. */
  readonly requestTimeoutMs?: number
}

/** The webhooks of a core: what it needs to enqueue and make calls, and the process that makes them. */
export class Webhooks {
  /** Enqueues deliveries in the transaction of the change. */
  readonly listener: EventListener
  /** The calls that operations of the core make themselves. */
  readonly calls: HookCalls
  readonly #core: Core
  readonly #log: Log
  readonly #queue: DeliveryQueue
  readonly #drain: Drain
  readonly #sender: RequestSender
  readonly #stop = new AbortController()
  #running: Promise<void> | undefined
  #pruning: RepeatingTask | undefined

  constructor({ core, random, newClaim, log, requestTimeoutMs }: WebhooksOptions) {
    this.#core = core
    this.#log = log
    this.#sender = new RequestSender(core, requestTimeoutMs)
    const queue = new DeliveryQueue(deliveriesIn(core.db), QUEUE)
    this.#queue = queue
    const errors = drainErrors({ log, clock: core.clock, work: 'webhooks' }, (err) =>
      log.error({ event: 'hook.delivery_failed', err }, 'webhook deliveries could not be made'),
    )
    const deliverer = new HookDeliverer({
      core,
      onUnavailable: errors.onError,
      sender: this.#sender,
      log,
      reach: (tx, delivery, progress) => queue.reach(deliveriesWithin(tx), delivery, progress),
    })
    this.#drain = new Drain({
      queue,
      send: deliverer.send,
      clock: core.clock,
      random,
      newClaim,
      // A call is never repeated: these are for calls that have not been made yet.
      retry: { baseMs: 250, capMs: 1_000, giveUpAfterMs: KEPT_PAYLOADS_MS },
      circuit: { failuresToOpen: Number.POSITIVE_INFINITY, baseMs: 0, capMs: 0 },
      leaseMs: LEASE_MS,
      batchSize: BATCH,
      concurrency: CONCURRENCY,
      laneConcurrency: BATCHES_PER_HOOK,
      slowMs: SLOW_MS,
      pollMs: POLL_MS,
      onSettled: (settled) => {
        for (const { delivery, settlement } of settled) {
          if (settlement.kind !== 'dead') continue
          log.error({ event: 'hook.given_up', delivery: delivery.key }, 'a webhook delivery was given up')
        }
      },
      ...errors,
    })
    this.listener = hookListener({
      enqueue: async (tx, deliveries) => {
        await queue.enqueue(deliveriesWithin(tx.db), deliveries, tx.nowMs)
      },
      wake: () => this.#drain.wake(),
    })
    const context = { core, sender: this.#sender, log }
    this.calls = {
      findBlockReason: findSavedUrlBlock,
      test: (caller, call) => testCall({ ...context, caller }, call),
      resend: (caller, call) => resendCall({ ...context, caller }, call),
    }
  }

  /** Starts to make calls, including those that earlier processes have left. */
  start(): void {
    this.#running = this.#drain.run(this.#stop.signal)
    const pace = { everyMs: PRUNE_EVERY_MS, clock: this.#core.clock, log: this.#log }
    this.#pruning = new RepeatingTask('hook.prune_failed', pace, () => this.#prune())
  }

  /** Makes no further calls, and resolves when those in progress have ended. */
  async end(): Promise<void> {
    this.#stop.abort()
    await this.#running
    await this.#pruning?.end()
    await this.#sender.close()
  }

  /** Deletes deliveries that have been settled: their calls are in the event log. */
  async #prune(): Promise<void> {
    const beforeMs = this.#core.clock.nowMs() - KEPT_MS
    for (const state of ['delivered', 'dead'] as const) {
      while (!this.#stop.signal.aborted && (await this.#queue.prune(beforeMs, PRUNED_ROWS, state)) === PRUNED_ROWS);
    }
  }
}
