import { setImmediate } from 'node:timers/promises'
import { isUnavailable } from '@penstock/db'
import type { Clock, Random } from '@penstock/runtime'
import { afterOutcomes, type CircuitPolicy, isOnProbation } from './circuit.ts'
import { POISON_AFTER_ABANDONED } from './deliveries.ts'
import { type LaneState, LaneStates } from './lane-states.ts'
import type { Outcome } from './outcome.ts'
import type { ClaimedDelivery, DeliveryQueue, OpenLane, Settlement } from './queue.ts'
import { deadlineMsOf, nextAttemptAt, type RetryPolicy } from './retry.ts'

/** What became of one delivery of a batch; `progress` is given back with its next claim. */
export interface Attempt {
  readonly outcome: Outcome
  readonly progress: string
}

/**
 * Sends a batch of one lane, and says of each what became of it, in the same order. Nothing is thrown for what the other side
 * does; `signal` aborts when the process ends, and whoever has sent nothing yet answers `undefined`.
 */
export type Send = (batch: readonly ClaimedDelivery[], signal: AbortSignal) => Promise<readonly (Attempt | undefined)[]>

export interface DrainOptions {
  readonly queue: Pick<DeliveryQueue, 'listOpenLanes' | 'listPoisonLanes' | 'claim' | 'settle'>
  /** Other lanes are left alone, for a process that knows them. Default: all. */
  readonly serves?: (lane: string) => boolean
  readonly send: Send
  readonly clock: Clock
  readonly random: Random
  /** A text unlike every other one, of any process. */
  readonly newClaim: () => string
  readonly retry: RetryPolicy
  readonly circuit: CircuitPolicy
  /** Longer than `send` can take; else what is under way is sent twice. */
  readonly leaseMs: number
  readonly batchSize: number
  /** Batches under way: in all, and of one lane. */
  readonly concurrency: number
  readonly laneConcurrency: number
  /** How often it is looked for what others have enqueued. */
  readonly pollMs: number
  readonly onSettled?: (settled: readonly Settled[]) => void
  /** A bug, or a database that is not to be had; it is tried again after `pollMs`. */
  readonly onError: (error: unknown) => void
}

export interface Settled {
  readonly delivery: ClaimedDelivery
  readonly settlement: Settlement
  readonly outcome: Outcome | undefined
  /** Its lease had run out: somebody else has it, and will send it again. */
  readonly isLost: boolean
}

/** Lanes that are looked at in one go. */
const LANES_PER_PAGE = 256
/** Whoever waits for the process to end does not wait long for a database that is away. */
const MAX_SETTLE_TRIES_ON_SHUTDOWN = 3

/** Claims what is due, sends it and settles it, until it is told to stop. Holds no more than `concurrency` batches in memory. */
export class Drain {
  readonly #options: DrainOptions
  readonly #lanes = new LaneStates()
  readonly #underWay = new Set<Promise<void>>()
  /** The lane that was looked at last: the next round begins behind it, so that busy ones in front starve none. */
  #lastLane = ''
  #woken = false
  #poisonBatch: Batch | undefined
  #sleep: AbortController | undefined

  constructor(options: DrainOptions) {
    this.#options = options
  }

  /** Something has been enqueued: looks now instead of at the next poll. */
  wake(): void {
    this.#woken = true
    this.#sleep?.abort()
  }

  /** Resolves when `signal` has aborted and all that was claimed is settled. */
  async run(signal: AbortSignal): Promise<void> {
    const onAbort = () => this.wake()
    signal.addEventListener('abort', onAbort, { once: true })
    while (!signal.aborted) {
      this.#woken = false
      const untilMs = await this.#startDue(signal).catch((error: unknown) => {
        this.#options.onError(error)
        return Number.POSITIVE_INFINITY
      })
      if (!this.#woken && !signal.aborted) await this.#sleepUntil(untilMs)
    }
    signal.removeEventListener('abort', onAbort)
    await Promise.all(this.#underWay)
  }

  /** Returns when the next one falls due for which there is nothing to be done now. */
  async #startDue(signal: AbortSignal): Promise<number> {
    const { clock, concurrency, serves } = this.#options
    await this.#startPoison(signal)
    const seen = new Set<string>()
    let nextMs = Number.POSITIVE_INFINITY
    for await (const { lane, dueMs } of this.#lanesInTurn(seen)) {
      if (this.#underWay.size >= concurrency || signal.aborted) return nextMs
      seen.add(lane)
      this.#lastLane = lane
      if (serves?.(lane) === false) continue
      const fromMs = Math.max(dueMs, this.#lanes.find(lane)?.circuit.openUntilMs ?? 0)
      if (fromMs > clock.nowMs()) nextMs = Math.min(nextMs, fromMs)
      else await this.#startLane(lane, signal)
    }
    return nextMs
  }

  /** All, from behind the last one of the round before to the end, and then from the beginning up to those seen. */
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
        // SQLite answers at once: nothing else would happen while one looks through thousands.
        await setImmediate()
      }
    }
  }

  /** As many batches as there are, and room for. */
  async #startLane(lane: string, signal: AbortSignal): Promise<void> {
    const { queue, clock, newClaim, leaseMs, batchSize, laneConcurrency, circuit } = this.#options
    const state = this.#lanes.getOrCreate(lane)
    const isProbation = isOnProbation(state.circuit, circuit)
    const limit = isProbation ? 1 : batchSize
    // Not for as long as there is room: of a fast lane one batch is over before the next is claimed.
    for (let started = 0; started < laneConcurrency && this.#hasRoom(state, isProbation); started += 1) {
      const nowMs = clock.nowMs()
      const deliveries = await queue.claim(lane, { claim: newClaim(), limit, leaseMs }, nowMs)
      const batch = { deliveries, leaseEndMs: nowMs + leaseMs }
      if (deliveries.length > 0) this.#start(batch, state, signal)
      if (deliveries.length < limit) return
    }
  }

  /** One at a time, of all lanes: if the process ends once more, no other suspect is abandoned along with it. */
  async #startPoison(signal: AbortSignal): Promise<void> {
    const { queue, clock, newClaim, leaseMs, circuit, serves } = this.#options
    if (this.#poisonBatch !== undefined) return
    for (const lane of await queue.listPoisonLanes(clock.nowMs())) {
      if (serves?.(lane) === false) continue
      const state = this.#lanes.getOrCreate(lane)
      const nowMs = clock.nowMs()
      if (state.circuit.openUntilMs > nowMs) continue
      if (!this.#hasRoom(state, isOnProbation(state.circuit, circuit))) continue
      const deliveries = await queue.claim(lane, { claim: newClaim(), limit: 1, leaseMs, poison: true }, nowMs)
      if (deliveries.length === 0) continue
      this.#poisonBatch = { deliveries, leaseEndMs: nowMs + leaseMs }
      this.#start(this.#poisonBatch, state, signal)
      return
    }
  }

  /** Half of all places are for lanes that have none yet: the few of a slow receiver would fill them all. */
  #hasRoom({ underWay }: LaneState, isProbation: boolean): boolean {
    const { concurrency, laneConcurrency } = this.#options
    if (underWay === 0) return this.#underWay.size < concurrency
    return !isProbation && underWay < laneConcurrency && this.#underWay.size < concurrency / 2
  }

  #start(batch: Batch, state: LaneState, signal: AbortSignal): void {
    state.underWay += 1
    const working = this.#work(batch, state, signal)
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => {
        state.underWay -= 1
        this.#underWay.delete(working)
        if (this.#poisonBatch === batch) this.#poisonBatch = undefined
        this.wake()
      })
    this.#underWay.add(working)
  }

  async #work(batch: Batch, state: LaneState, signal: AbortSignal): Promise<void> {
    const attempts = signal.aborted ? [] : await this.#send(batch.deliveries, signal)
    this.#updateCircuit(state, attempts)
    await this.#settle(batch, attempts, signal)
  }

  /** What a bug has interrupted may have arrived: it is sent again, and buried in the end. */
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

  /** A suspect that is out of time: nobody has lived to say so when it was tried last. */
  #isPoisonPastDeadline({ abandoned, enqueuedAtMs }: ClaimedDelivery): boolean {
    return abandoned >= POISON_AFTER_ABANDONED && this.#options.clock.nowMs() >= deadlineMsOf(this.#options.retry, enqueuedAtMs)
  }

  #updateCircuit(state: LaneState, attempts: readonly (Attempt | undefined)[]): void {
    const outcomes = attempts.flatMap((attempt) => attempt?.outcome ?? [])
    state.circuit = afterOutcomes(state.circuit, this.#options.circuit, outcomes, this.#options.clock.nowMs())
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

  /** The receiver has it, and would get it again if this were forgotten: tried until the lease is over. */
  async #write(
    settled: readonly Omit<Settled, 'isLost'>[],
    leaseEndMs: number,
    signal: AbortSignal,
  ): Promise<readonly ClaimedDelivery[]> {
    const { queue, clock, pollMs, onError } = this.#options
    for (let shutdownTries = 0; ; shutdownTries += signal.aborted ? 1 : 0) {
      try {
        return await queue.settle(settled, clock.nowMs())
      } catch (error) {
        const isOver = clock.nowMs() + pollMs >= leaseEndMs || shutdownTries >= MAX_SETTLE_TRIES_ON_SHUTDOWN
        if (isOver || !isUnavailable(error)) throw error
        onError(error)
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

  async #sleepUntil(atMs: number): Promise<void> {
    const { clock, pollMs } = this.#options
    const sleep = new AbortController()
    this.#sleep = sleep
    await clock.sleep(Math.min(Math.max(atMs - clock.nowMs(), 0), pollMs), sleep.signal).catch(() => {})
    this.#sleep = undefined
  }
}

const abandonedOutcome: Outcome = {
  kind: 'retry',
  retryAfterMs: 0,
  reason: 'each time the process that was sending it ended',
  isLocal: true,
}

interface Batch {
  readonly deliveries: readonly ClaimedDelivery[]
  readonly leaseEndMs: number
}
