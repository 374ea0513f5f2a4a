import type { AdmissionRequest, Reason } from '../contract/admission.ts'
import type { Client } from './client-stats.ts'

export const HOURS = 24
export const HOUR_MS = 3_600_000

/** One of the clients that `ClientSketch` counts in fixed memory: its identity, and its requests in each of the last 24 hours. */
export class ClientCounter {
  readonly key: string
  /** The rank in the heap: the requests, plus the weight inherited from the client that this one displaced. */
  weight: number
  /** The requests since the counter was added. */
  requests = 0
  /** The index in the heap. */
  heapIndex = 0
  lastSeenMs: number
  #serviceNames: readonly string[] = []
  #lastSampleMs = Number.NEGATIVE_INFINITY
  readonly #client: Omit<Client, 'serviceNames' | 'lastSeenMs' | 'count'>
  readonly #perHour = new Array<number>(HOURS).fill(0)

  constructor(
    key: string,
    identity: {
      presented: AdmissionRequest
      network: string
      userAgent: string
      reason: Reason
      tokenId: string | undefined
    },
    nowMs: number,
    weight: number,
  ) {
    const { presented, network, userAgent, reason, tokenId } = identity
    this.key = key
    this.weight = weight
    this.lastSeenMs = nowMs
    const { signal, transport } = presented
    this.#client = { network, userAgent, signal, transport, reason, tokenId, firstSeenMs: nowMs }
  }

  addRequest(nowMs: number): void {
    this.lastSeenMs = nowMs
    this.weight += 1
    this.requests += 1
    this.#perHour[hourOf(nowMs) % HOURS]! += 1
  }

  /**
   * Returns whether the body of the latest request should be read. True for the first requests, so that new clients are
   * known soon, then for the 32nd, 64th … and whenever the last sample is old: several services may send through one client.
   */
  isSampleDue(nowMs: number): boolean {
    const ageMs = nowMs - this.#lastSampleMs
    const isOld = ageMs < 0 || ageMs >= RESAMPLE_AFTER_MS
    return this.requests <= ALWAYS_SAMPLED || isPowerOfTwo(this.requests) || isOld
  }

  noteSample(nowMs: number): void {
    this.#lastSampleMs = nowMs
  }

  addServiceName(name: string): void {
    this.#serviceNames = distinctNames([name, ...this.#serviceNames])
  }

  /** Returns the requests of the last 24 hours. */
  count(): number {
    return this.#perHour.reduce((sum, requests) => sum + requests, 0)
  }

  /** Clears the slot of this hour, which still contains the count of 24 hours ago. */
  beginHour(hour: number): void {
    this.#perHour[hour % HOURS] = 0
  }

  report(): Client {
    return { ...this.#client, serviceNames: this.#serviceNames, lastSeenMs: this.lastSeenMs, count: this.count() }
  }
}

const ALWAYS_SAMPLED = 16
const RESAMPLE_AFTER_MS = 10_000
const MAX_SERVICE_NAMES = 10

/** Returns the first names without repetitions. */
export const distinctNames = (names: readonly string[]): readonly string[] =>
  [...new Set(names)].slice(0, MAX_SERVICE_NAMES)

const isPowerOfTwo = (count: number): boolean => (count & (count - 1)) === 0

export const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS)
