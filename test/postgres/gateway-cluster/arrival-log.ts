import type { GatewayHost } from './gateway-host.ts'

const EVERY_MS = 250

/** The number of requests that each host has forwarded, several times a second. */
export class ArrivalLog {
  readonly #counts = new Map<GatewayHost, { atMs: number; count: number }[]>()
  readonly #timer: NodeJS.Timeout

  constructor(hosts: readonly GatewayHost[]) {
    for (const host of hosts) this.#counts.set(host, [])
    this.#timer = setInterval(() => this.#note(), EVERY_MS)
  }

  /** Returns how many requests a host has forwarded since `sinceMs`, by `performance.now()`, or somewhat earlier. */
  countSince(host: GatewayHost, sinceMs: number): number {
    const before = this.#counts.get(host)!.findLast(({ atMs }) => atMs <= sinceMs)
    return host.forwarded - (before?.count ?? 0)
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  #note(): void {
    const atMs = performance.now()
    for (const [host, counts] of this.#counts) counts.push({ atMs, count: host.forwarded })
  }
}
