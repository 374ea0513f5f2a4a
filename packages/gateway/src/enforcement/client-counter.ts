import type { Presented, Reason } from '../ingest/admission.ts'
import type { Client } from './client-stats.ts'

export const HOURS = 24
export const HOUR_MS = 3_600_000

/** One client of the sketch: identity it is, and how often it was seen in each of the last 24 hours. */
export class ClientCounter {
  readonly key: string
  /** What space-saving ranks by: requests, and what was taken over from the client it has displaced. */
  weight: number
  /** Requests since it has been here. */
  requests = 0
  /** Where it stands in the heap. */
  heapIndex = 0
  serviceName: string | undefined
  lastSeenMs: number
  readonly #client: Omit<Client, 'serviceName' | 'lastSeenMs' | 'count'>
  readonly #perHour = new Array<number>(HOURS).fill(0)

  constructor(
    key: string,
    identity: { presented: Presented; network: string; userAgent: string; reason: Reason; tokenId: string | undefined },
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

  /** Of the last 24 hours. */
  count(): number {
    return this.#perHour.reduce((sum, requests) => sum + requests, 0)
  }

  /** Forgets what was counted in the same hour of the day before. */
  beginHour(hour: number): void {
    this.#perHour[hour % HOURS] = 0
  }

  report(): Client {
    return { ...this.#client, serviceName: this.serviceName, lastSeenMs: this.lastSeenMs, count: this.count() }
  }
}

export const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS)
