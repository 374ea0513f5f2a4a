import { setImmediate } from 'node:timers/promises'
import { isUnavailable } from '@penstock/db'
import type { Clock, Random } from '@penstock/runtime'
import type { Outcome } from '../sending/outcome.ts'
import { nextAttemptAt, type RetryPolicy, toDeadlineMs } from '../sending/retry.ts'
import { afterOutcomes, type CircuitPolicy, isOnProbation } from './circuit.ts'
import { POISON_AFTER_ABANDONED } from './deliveries.ts'
import type { ClaimedDelivery, OpenLane, Settlement } from './delivery.ts'
import { type LaneState, LaneStates } from './lane-states.ts'
import { type PlaceRules, Places } from './places.ts'
import type { DeliveryQueue } from './queue.ts'

/** The result of one delivery of a batch. The next claim returns `progress` to the sender. */
export interface Attempt {
  readonly outcome: Outcome
  readonly progress: string
}

/**
 * Sends a batch of one lane and returns the result of each delivery in the same order. Failures of the receiver are results,
 * not errors. `signal` aborts when the process ends; deliveries that were not sent by then have the result `undefined`.
 */
export type Send = (batch: readonly ClaimedDelivery[], signal: AbortSignal) => Promise<readonly (Attempt | undefined)[]>

export interface DrainOptions extends PlaceRules {
  readonly queue: Pick<DeliveryQueue, 'listOpenLanes' | 'listPoisonLanes' | 'claim' | 'settle'>
  /** Returns whether this process serves a lane; other lanes are left to other processes. Default: all. */
  readonly serves?: (lane: string) => boolean
  readonly send: Send
  readonly clock: Clock
  readonly random: Random
  /** Returns a claim id that is unique across all processes. */
  readonly newClaim: () => string
  readonly retry: RetryPolicy
  readonly circuit: CircuitPolicy
  /** The lease of a claim. It must be longer than `send` can take, or deliveries are sent twice. */
  readonly leaseMs: number
  readonly batchSize: number
  /** How often the drain looks for deliveries that other processes have enqueued. */
  readonly pollMs: number
  readonly onSettled?: (settled: readonly Settled[]) => void
  /** Called for a bug or an unreachable database; the work is tried again after `pollMs`, and later if it fails again. */
  readonly onError: (error: unknown) => void
  /** Called after each round in which the database could be used. */
  readonly onRecovered?: () => void
}

export interface Settled {
  readonly delivery: ClaimedDelivery
  readonly settlement: Settlement
  readonly outcome: Outcome | undefined
  /** Whether the lease had run out, so that another claim owns the delivery and sends it again. */
  readonly isLost: boolean
}

/** The number of lanes that one query returns. */
const LANES_PER_PAGE = 256
/**
 * The number of tries to settle while the process is ending, so that an unreachable database
 * does not delay the end for long.
 */
const MAX_SETTLE_TRIES_ON_SHUTDOWN = 3
/** The longest pause between two rounds while the database cannot be used, so that work continues soon after an outage. */
const MAX_RETRY_PAUSE_MS = 5_000

/** Claims, sends and settles due deliveries until it is stopped. At most `concurrency` batches are in memory. */
export class Drain {
  readonly #options: DrainOptions
  readonly #lanes = new LaneStates()
  readonly #places: Places
  readonly #inProgress = new Set<Promise<void>>()
  /** The lane that was looked at last. The next round begins after it, so that busy lanes do not starve the others. */
  #lastLane = ''
  #woken = false
  #poisonBatch: Batch | undefined
  #sleep: AbortController | undefined
  /** The number of batches with a result that could not be stored at the last attempt. */
  #unwritten = 0

  constructor(options: DrainOptions) {
    this.#options = options
    this.#places = new Places(options)
  }

  /** Looks for due deliveries now instead of at the next poll. */
  wake(): void {
    this.#woken = true
    this.#sleep?.abort()
  }

  /** Runs until `signal` aborts. Resolves when all claimed deliveries are settled. */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = () => this.wake()
    signal.addEventListener('abort', onAbort, { once: true })
    const { pollMs, onError, onRecovered } = this.#options
    let failures = 0
    while (!signal.aborted) {
      this.#woken = false
      let waitMs = Number.POSITIVE_INFINITY
      try {
        waitMs = await this.#startDue(signal)
        failures = 0
        if (this.#unwritten === 0) onRecovered?.()
      } catch (error) {
        failures += 1
        onError(error)
      }
      const maxMs = failures === 0 ? pollMs : Math.max(pollMs, Math.min(pollMs * 2 ** failures, MAX_RETRY_PAUSE_MS))
      if (!this.#woken && !signal.aborted) await this.#pause(Math.min(waitMs, maxMs))
    }
    signal.removeEventListener('abort', onAbort)
    await Promise.all(this.#inProgress)
  }

  /** Starts what is due, and returns the milliseconds until the next delivery falls due. */
  async #startDue(signal: AbortSignal): Promise<number> {
    const { clock, serves } = this.#options
    await this.#startPoison(signal)
    const seen = new Set<string>()
    let waitMs = Number.POSITIVE_INFINITY
    for await (const { lane, dueMs } of this.#lanesInTurn(seen)) {
      if (this.#places.isFull || signal.aborted) return waitMs
      seen.add(lane)
      this.#lastLane = lane
      if (serves?.(lane) === false) continue
      const openUntilMs = this.#lanes.find(lane)?.circuit.openUntilMs ?? Number.NEGATIVE_INFINITY
      const laneWaitMs = Math.max(dueMs - clock.nowMs(), openUntilMs - clock.monotonicMs())
      if (laneWaitMs > 0) waitMs = Math.min(waitMs, laneWaitMs)
      else await this.#startLane(lane, signal)
    }
    return waitMs
  }

  /** Yields all open lanes once, beginning after the last lane of the previous round and wrapping around. */
  async *#lanesInTurn(seen: ReadonlySet<string>): AsyncGenerator<OpenLane> {
    for (const begin of [this.#lastLane, '']) {
      let after = begin
      for (;;) {
        const lanes = await this.#options.queue.listOpenLanes({ limit: LANES_PER_PAGE, after })
        for (const one of lanes) {
          if (seen.has(one.lane)) return
          yield one
        }
        if (lanes.length < LANES_PER_PAGE) break
        after = lanes.at(-1)!.lane
        // SQLite calls complete without leaving the event loop, so other work would wait while thousands of lanes are read.
        await setImmediate()
      }
    }
  }

  /** Starts batches of a lane until no delivery is due or there is no room for another batch. */
  async #startLane(lane: string, signal: AbortSignal): Promise<void> {
    const { queue, clock, newClaim, leaseMs, batchSize, laneConcurrency, circuit } = this.#options
    const state = this.#lanes.getOrCreate(lane)
    const isProbation = isOnProbation(state.circuit, circuit)
    const limit = isProbation ? 1 : batchSize
    // The loop is bounded by a count, not by free room: a batch of a fast lane can end before the next one is claimed.
    for (let started = 0; started < laneConcurrency && this.#places.hasRoom(state, isProbation); started += 1) {
      const nowMs = clock.nowMs()
      const deliveries = await queue.claim(lane, { claim: newClaim(), limit, leaseMs }, nowMs)
      const batch = { deliveries, leaseEndMs: nowMs + leaseMs }
      if (deliveries.length > 0) this.#start(batch, state, signal)
      if (deliveries.length < limit) return
    }
  }

  /**
   * Starts one poison delivery. Only one is sent at a time across all lanes, so that a crash does not also abandon
   * another suspect.
   */
  async #startPoison(signal: AbortSignal): Promise<void> {
    const { queue, clock, newClaim, leaseMs, circuit, serves } = this.#options
    if (this.#poisonBatch !== undefined) return
    for (const lane of await queue.listPoisonLanes(clock.nowMs())) {
      if (serves?.(lane) === false) continue
      const state = this.#lanes.getOrCreate(lane)
      const nowMs = clock.nowMs()
      if (state.circuit.openUntilMs > clock.monotonicMs()) continue
      if (!this.#places.hasRoom(state, isOnProbation(state.circuit, circuit))) continue
      const deliveries = await queue.claim(lane, { claim: newClaim(), limit: 1, leaseMs, poison: true }, nowMs)
      if (deliveries.length === 0) continue
      this.#poisonBatch = { deliveries, leaseEndMs: nowMs + leaseMs }
      this.#start(this.#poisonBatch, state, signal)
      return
    }
  }

  #start(batch: Batch, state: LaneState, signal: AbortSignal): void {
    const leave = this.#places.take(state)
    const working = this.#work(batch, state, signal)
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => {
        leave()
        this.#inProgress.delete(working)
        if (this.#poisonBatch === batch) this.#poisonBatch = undefined
        this.wake()
      })
    this.#inProgress.add(working)
  }

  async #work(batch: Batch, state: LaneState, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const beganMs = clock.monotonicMs()
    const attempts = signal.aborted ? [] : await this.#send(batch.deliveries, signal)
    // A batch that was not sent says nothing about the receiver.
    const wasSent = attempts.some((attempt) => attempt !== undefined && attempt.outcome.kind !== 'retry')
    if (wasSent) this.#places.learn(state, clock.monotonicMs() - beganMs)
    this.#updateCircuit(state, attempts)
    await this.#settle(batch, attempts, signal)
  }

  /**
   * Sends a batch. After an unexpected error the deliveries may or may not have arrived, so they
   * are retried until they expire.
   */
  async #send(batch: readonly ClaimedDelivery[], signal: AbortSignal): Promise<readonly (Attempt | undefined)[]> {
    if (batch.every((delivery) => this.#isPoisonPastDeadline(delivery))) {
      return batch.map(({ progress }) => ({ outcome: abandonedOutcome, progress }))
    }
    try {
      return await this.#options.send(batch, signal)
    } catch (error) {
      this.#options.onError(error)
      const outcome = { kind: 'retry', retryAfterMs: 0, reason: 'internal error', isLocal: true } as const
      return batch.map(({ progress }) => ({ outcome, progress }))
    }
  }

  /**
   * Returns whether a poison delivery is past its deadline. No process has survived its last attempt, so that attempt was
   * never settled.
   */
  #isPoisonPastDeadline({ abandoned, enqueuedAtMs }: ClaimedDelivery): boolean {
    return (
      abandoned >= POISON_AFTER_ABANDONED &&
      this.#options.clock.nowMs() >= toDeadlineMs(this.#options.retry, enqueuedAtMs)
    )
  }

  #updateCircuit(state: LaneState, attempts: readonly (Attempt | undefined)[]): void {
    const outcomes = attempts.flatMap((attempt) => attempt?.outcome ?? [])
    state.circuit = afterOutcomes(state.circuit, this.#options.circuit, outcomes, this.#options.clock.monotonicMs())
  }

  async #settle(batch: Batch, attempts: readonly (Attempt | undefined)[], signal: AbortSignal): Promise<void> {
    const { clock, onSettled } = this.#options
    const nowMs = clock.nowMs()
    const settled = batch.deliveries.map((delivery, index) => {
      const attempt = attempts[index]
      return { delivery, outcome: attempt?.outcome, settlement: this.#settlementOf(delivery, attempt, nowMs) }
    })
    const lost = new Set(await this.#write(settled, batch.leaseEndMs, signal))
    onSettled?.(settled.map((one) => ({ ...one, isLost: lost.has(one.delivery) })))
  }

  /** Writes the settlements and tries again until the lease ends, because an unsettled delivery would be sent again. */
  async #write(
    settled: readonly Omit<Settled, 'isLost'>[],
    leaseEndMs: number,
    signal: AbortSignal,
  ): Promise<readonly ClaimedDelivery[]> {
    const { queue, clock, pollMs, onError } = this.#options
    let hasFailed = false
    for (let shutdownTries = 0; ; shutdownTries += signal.aborted ? 1 : 0) {
      if (hasFailed) this.#unwritten -= 1
      try {
        return await queue.settle(settled, clock.nowMs())
      } catch (error) {
        const isOver = clock.nowMs() + pollMs >= leaseEndMs || shutdownTries >= MAX_SETTLE_TRIES_ON_SHUTDOWN
        if (isOver || !isUnavailable(error)) throw error
        onError(error)
        hasFailed = true
        this.#unwritten += 1
      }
      await clock.sleep(pollMs)
    }
  }

  #settlementOf(delivery: ClaimedDelivery, attempt: Attempt | undefined, nowMs: number): Settlement {
    if (attempt === undefined) return { kind: 'unsent' }
    const { outcome, progress } = attempt
    if (outcome.kind === 'delivered') return { kind: 'delivered', message: outcome.message }
    if (outcome.kind === 'dead') return { kind: 'dead', reason: outcome.reason, progress }
    const { enqueuedAtMs, attemptsMade } = delivery
    const item = { enqueuedAtMs, attemptsMade: attemptsMade + 1, retryAfterMs: outcome.retryAfterMs }
    const atMs = nextAttemptAt(this.#options.retry, item, nowMs, this.#options.random)
    const { reason } = outcome
    if (atMs !== undefined) return { kind: 'retry', atMs, reason, progress }
    return { kind: 'dead', reason: `gave up after ${item.attemptsMade} attempts: ${reason}`, progress }
  }

  async #pause(ms: number): Promise<void> {
    const sleep = new AbortController()
    this.#sleep = sleep
    await this.#options.clock.sleep(ms, sleep.signal).catch(() => {})
    this.#sleep = undefined
  }
}

const abandonedOutcome: Outcome = {
  kind: 'retry',
  retryAfterMs: 0,
  reason: 'the process ended during each attempt',
  isLocal: true,
}

interface Batch {
  readonly deliveries: readonly ClaimedDelivery[]
  readonly leaseEndMs: number
}
