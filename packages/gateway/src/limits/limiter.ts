import { type IngestSignal, ingestSignalNames } from '../contract/signals.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import { TokenLimitState } from './token-limit-state.ts'

const DAY_MS = 86_400_000
/** The longest wait stated for a daily quota, so that clients notice a raised quota within the hour. */
const LONGEST_QUOTA_WAIT_MS = 3_600_000
/** A wall clock that goes back by more than this was adjusted; callers may be late by less than this. */
const CLOCK_STEP_MS = 1_000

/** The requests and bytes of a token since 00:00 UTC, or in one hour of that day. */
interface DailyUse {
  readonly tokenId: string
  readonly signal: IngestSignal
  /** Any time within the period that was counted. */
  readonly atMs: number
  readonly requests: number
  readonly bytes: number
}

interface OverLimit {
  /** The name of the limit, such as `traces.second.requests` or `all.day.bytes`; the label `limit` of metrics (O-4). */
  readonly limit: string
  /** The time in milliseconds until the request would fit; at most an hour for a daily quota. */
  readonly waitMs: number
}

/**
 * Enforces the rates and daily quotas of tokens.
 *
 * A rate allows bursts of one second's worth. A larger body is allowed if the bucket is full; later requests then wait
 * until the bucket has recovered. Quotas count from 00:00 UTC.
 *
 * Several processes share a rate in equal parts. Of a quota, each may use an equal part of what is left, until they exchange what
 * they have used. So no process waits for another, and what one leaves unused is not lost.
 *
 * Keeps state only for tokens that have limits, and drops it when a token has sent nothing for a whole day.
 */
export class Limiter {
  readonly #byToken = new Map<string, TokenLimitState>()
  #instances = 1
  #day = 0
  /** The offset that turns `nowMs` into a monotonic time. */
  #originMs: number | undefined
  #monotonicMs = 0

  /** Charges one request and its declared bytes before the body is read. Charges nothing if it returns `OverLimit`. */
  take(token: TokenRecord, signal: IngestSignal, declaredBytes: number, nowMs: number): OverLimit | undefined {
    const { limits } = token
    if (limits === undefined) return undefined
    const atMs = this.#toMonotonic(nowMs)
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

  /** Charges the bytes beyond the declared length after the body was read, even if that exceeds a rate. */
  settle(token: TokenRecord, signal: IngestSignal, moreBytes: number, nowMs: number): void {
    if (token.limits === undefined || moreBytes <= 0) return
    const atMs = this.#toMonotonic(nowMs)
    const state = this.#stateOf(token.id, nowMs)
    state.setLimits(token.limits, this.#instances, atMs)
    for (const { bucket, measure } of state.of(signal).rates) if (measure === 'bytes') bucket.take(moreBytes, atMs)
    state.use.add(signal, 0, moreBytes)
  }

  /** Sets the number of processes that share the limits; each enforces an equal part. */
  setInstances(instances: number): void {
    this.#instances = Math.max(1, instances)
    for (const state of this.#byToken.values()) state.setInstances(this.#instances)
  }

  /** Returns the usage of this process since 00:00 UTC, for tokens that have limits. */
  dailyUse(): DailyUse[] {
    return [...this.#byToken].flatMap(([tokenId, { use }]) =>
      ingestSignalNames
        .map((signal) => ({
          tokenId,
          signal,
          atMs: this.#day * DAY_MS,
          requests: use.earlier[signal].requests + use.own[signal].requests,
          bytes: use.earlier[signal].bytes + use.own[signal].bytes,
        }))
        .filter(({ requests, bytes }) => requests > 0 || bytes > 0),
    )
  }

  /**
   * Adds the usage that all processes together had stored before this one started. Call it once, at start. Ignores rows
   * of other days.
   */
  restore(rows: readonly DailyUse[], nowMs: number): void {
    for (const { tokenId, signal, atMs, requests, bytes } of rows) {
      if (dayOf(atMs) === dayOf(nowMs)) this.#stateOf(tokenId, nowMs).use.restore(signal, requests, bytes)
    }
  }

  /** Notes the use that this process has stored, so that an exchange does not take it for that of others. */
  addStored(rows: readonly DailyUse[], nowMs: number): void {
    this.#startDay(dayOf(nowMs))
    for (const { tokenId, signal, atMs, requests, bytes } of rows) {
      if (dayOf(atMs) === this.#day) this.#byToken.get(tokenId)?.use.addStored(signal, requests, bytes)
    }
  }

  /**
   * Takes over what all processes have stored today for some tokens.
   *
   * @param rows the use of these tokens; rows of another day are ignored, so shortly after midnight the use of others is unknown
   */
  exchange(tokenIds: readonly string[], rows: readonly DailyUse[], nowMs: number): void {
    this.#startDay(dayOf(nowMs))
    const byToken = new Map<string, DailyUse[]>(tokenIds.map((id) => [id, []]))
    for (const row of rows) if (dayOf(row.atMs) === this.#day) byToken.get(row.tokenId)?.push(row)
    for (const [id, totals] of byToken) {
      const state = totals.length === 0 ? this.#byToken.get(id) : this.#stateOf(id, nowMs)
      state?.use.exchange(totals)
    }
  }

  /**
   * Returns the exceeded limit with the longest wait, if any. For a body of unknown length, there must be room for at
   * least one byte.
   */
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
    for (const { limit, measure, scope, perDay } of quotas) {
      const needed = measure === 'requests' ? 1 : neededBytes
      const { own, earlier, others } = state.use
      const known = earlier[scope][measure] + others[scope][measure]
      const isWithin = (own[scope][measure] + needed) * this.#instances + known <= perDay
      const waitMs = isWithin ? 0 : Math.min((this.#day + 1) * DAY_MS - nowMs, LONGEST_QUOTA_WAIT_MS)
      if (waitMs <= longestMs) continue
      longestMs = waitMs
      longest = limit
    }
    return longestMs === 0 ? undefined : { limit: longest, waitMs: longestMs }
  }

  #stateOf(tokenId: string, nowMs: number): TokenLimitState {
    this.#startDay(dayOf(nowMs))
    let state = this.#byToken.get(tokenId)
    if (state === undefined) {
      state = new TokenLimitState(this.#day)
      this.#byToken.set(tokenId, state)
    }
    state.lastDay = this.#day
    return state
  }

  #startDay(day: number): void {
    if (day === this.#day) return
    for (const [tokenId, state] of this.#byToken) {
      if (state.lastDay < day - 1) this.#byToken.delete(tokenId)
      else state.use.reset()
    }
    this.#day = day
  }

  /** Converts wall-clock time to monotonic time, so that no request waits longer after the clock was set back. */
  #toMonotonic(nowMs: number): number {
    this.#originMs ??= nowMs
    if (nowMs - this.#originMs < this.#monotonicMs - CLOCK_STEP_MS) this.#originMs = nowMs - this.#monotonicMs
    this.#monotonicMs = Math.max(this.#monotonicMs, nowMs - this.#originMs)
    return this.#monotonicMs
  }
}

const dayOf = (ms: number): number => Math.floor(ms / DAY_MS)
