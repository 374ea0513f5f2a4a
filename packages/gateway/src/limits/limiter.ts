import { type IngestSignal, ingestSignalNames } from '../ingest/signals.ts'
import type { TokenRecord } from '../tokens/token-record.ts'
import type { Limiting, OverLimit } from './limiting.ts'
import { TokenLimitState } from './token-limit-state.ts'

const DAY_MS = 86_400_000
/** Whoever is over a daily quota comes back at least this often, in case the quota has been raised. */
const LONGEST_QUOTA_WAIT_MS = 3_600_000
/** A wall clock corrected by more than this has stepped; within it, callers have merely read it at different moments. */
const CLOCK_STEP_MS = 1_000

/** Use of a token since 00:00 UTC, or of an hour of that day. */
export interface DailyUse {
  readonly tokenId: string
  readonly signal: IngestSignal
  /** Any moment of the time it was counted in. */
  readonly atMs: number
  readonly requests: number
  readonly bytes: number
}

/**
 * Rates and daily quotas of tokens.
 *
 * A rate lets one second's worth through at once. A body larger than that is let through when the bucket is full, and
 * what follows it waits until it is paid off. Quotas count from 00:00 UTC.
 *
 * State is kept for tokens that have limits, and forgotten when a token has sent nothing for a whole day.
 */
export class Limiter implements Limiting {
  readonly #byToken = new Map<string, TokenLimitState>()
  #instances = 1
  #day = 0
  /** `nowMs` less this is a time that never goes back. */
  #originMs: number | undefined
  #steadyMs = 0

  take(token: TokenRecord, signal: IngestSignal, declaredBytes: number, nowMs: number): OverLimit | undefined {
    const { limits } = token
    if (limits === undefined) return undefined
    const atMs = this.#steady(nowMs)
    const state = this.#stateOf(token.id, nowMs)
    state.setLimits(limits, this.#instances, atMs)
    const over = this.#overLimit(state, signal, declaredBytes, nowMs, atMs)
    if (over !== undefined) return over
    for (const { bucket, measure } of state.of(signal).rates) {
      bucket.take(measure === 'requests' ? 1 : declaredBytes, atMs)
    }
    state.use.add(signal, 1, declaredBytes)
    return undefined
  }

  settle(token: TokenRecord, signal: IngestSignal, moreBytes: number, nowMs: number): void {
    if (token.limits === undefined || moreBytes <= 0) return
    const atMs = this.#steady(nowMs)
    const state = this.#stateOf(token.id, nowMs)
    state.setLimits(token.limits, this.#instances, atMs)
    for (const { bucket, measure } of state.of(signal).rates) if (measure === 'bytes') bucket.take(moreBytes, atMs)
    state.use.add(signal, 0, moreBytes)
  }

  setInstances(instances: number): void {
    this.#instances = Math.max(1, instances)
    for (const state of this.#byToken.values()) state.setInstances(this.#instances)
  }

  /** What has passed through this process since 00:00 UTC, of tokens with limits. */
  dailyUse(): DailyUse[] {
    return [...this.#byToken].flatMap(([tokenId, { use }]) =>
      ingestSignalNames
        .map((signal) => ({ tokenId, signal, atMs: this.#day * DAY_MS, ...use.own[signal] }))
        .filter(({ requests, bytes }) => requests > 0 || bytes > 0),
    )
  }

  /**
   * Counts what all processes together had let through before this one began; once, at its start. Rows of other days
   * are left out. Of what they hold, this process counts its part, as it does of the quota.
   */
  restore(rows: readonly DailyUse[], nowMs: number): void {
    for (const { tokenId, signal, atMs, requests, bytes } of rows) {
      if (dayOf(atMs) === dayOf(nowMs)) this.#stateOf(tokenId, nowMs).use.restore(signal, requests, bytes)
    }
  }

  /** The limit that takes longest; a body of unknown length needs room for a byte. */
  #overLimit(
    state: TokenLimitState,
    signal: IngestSignal,
    declaredBytes: number,
    nowMs: number,
    atMs: number,
  ): OverLimit | undefined {
    const { rates, quotas } = state.of(signal)
    const neededBytes = Math.max(1, declaredBytes)
    let longestMs = 0
    let longest = ''
    for (const { limit, measure, bucket } of rates) {
      const waitMs = bucket.waitMs(measure === 'requests' ? 1 : neededBytes, atMs)
      if (waitMs <= longestMs) continue
      longestMs = waitMs
      longest = limit
    }
    for (const { limit, measure, counted, perDay } of quotas) {
      const needed = measure === 'requests' ? 1 : neededBytes
      const { own, restored } = state.use
      const isWithin = (own[counted][measure] + needed) * this.#instances + restored[counted][measure] <= perDay
      const waitMs = isWithin ? 0 : Math.min((this.#day + 1) * DAY_MS - nowMs, LONGEST_QUOTA_WAIT_MS)
      if (waitMs <= longestMs) continue
      longestMs = waitMs
      longest = limit
    }
    return longestMs === 0 ? undefined : { limit: longest, waitMs: longestMs }
  }

  #stateOf(tokenId: string, nowMs: number): TokenLimitState {
    this.#turnDay(dayOf(nowMs))
    let state = this.#byToken.get(tokenId)
    if (state === undefined) {
      state = new TokenLimitState(this.#day)
      this.#byToken.set(tokenId, state)
    }
    state.lastDay = this.#day
    return state
  }

  #turnDay(day: number): void {
    if (day === this.#day) return
    for (const [tokenId, state] of this.#byToken) {
      if (state.lastDay < day - 1) this.#byToken.delete(tokenId)
      else state.use.reset()
    }
    this.#day = day
  }

  /** After a step back of the wall, time goes on from where it was: nobody waits for the wall to catch up. */
  #steady(nowMs: number): number {
    this.#originMs ??= nowMs
    if (nowMs - this.#originMs < this.#steadyMs - CLOCK_STEP_MS) this.#originMs = nowMs - this.#steadyMs
    this.#steadyMs = Math.max(this.#steadyMs, nowMs - this.#originMs)
    return this.#steadyMs
  }
}

const dayOf = (ms: number): number => Math.floor(ms / DAY_MS)
