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
  serviceName: string | undefined
  lastSeenMs: number
  readonly #client: Omit<Client, 'serviceName' | 'lastSeenMs' | 'count'>
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

  /** Returns the requests of the last 24 hours. */
  count(): number {
    return this.#perHour.reduce((sum, requests) => sum + requests, 0)
  }

  /** Clears the slot of this hour, which still contains the count of 24 hours ago. */
  beginHour(hour: number): void {
    this.#perHour[hour % HOURS] = 0
  }

  report(): Client {
    return { ...this.#client, serviceName: this.serviceName, lastSeenMs: this.lastSeenMs, count: this.count() }
  }
}

export const hourOf = (ms: number): number => Math.floor(ms / HOUR_MS)
