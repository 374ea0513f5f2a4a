import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiReply } from '../../gateway/process-gateway.ts'
import type { Outages } from '../outages.ts'
import type { GatewayCluster } from './gateway-cluster.ts'

/** A token that was revoked, and the time at which its revocation was known to be stored. */
interface Revoked {
  readonly id: string
  readonly token: string
  readonly storedAtMs: number
}

/** A revoked token that a gateway accepted while the database was there. */
interface Acceptance {
  readonly id: string
  readonly host: string
  /** The time for which the revocation had been stored, and the database been there. */
  readonly afterMs: number
}

const PAUSE_BETWEEN_MS = 1_500
const PROBE_PAUSE_MS = 50
/** How long a token is watched after its revocation while the database is there, and at most. */
const WATCH_UP_MS = 3_500
const WATCH_LIMIT_MS = 90_000
const RETRY_PAUSE_MS = 250

/** Creates and revokes tokens while gateways and the database are killed, and asks every gateway about them. */
export class Revocations {
  readonly revoked: Revoked[] = []
  readonly acceptances: Acceptance[] = []
  /** The answers of the API by status; those that did not arrive are counted as 0. */
  readonly answers: Record<number, number> = {}
  readonly #cluster: GatewayCluster
  readonly #outages: Outages
  readonly #random: () => number
  readonly #watching: Promise<void>[] = []

  constructor(cluster: GatewayCluster, outages: Outages, random: () => number) {
    this.#cluster = cluster
    this.#outages = outages
    this.#random = random
  }

  /** Creates and revokes tokens until the signal aborts. Resolves when none of them is watched any more. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const { json } = await this.#untilAnswered('POST', '/tokens', [201], { name: 'victim' })
      const { id, token } = json as { id: string; token: string }
      await sleep(this.#random() * PAUSE_BETWEEN_MS)
      // If the answer to a revocation was lost, it is repeated, and the token is then unknown.
      await this.#untilAnswered('DELETE', `/tokens/${id}`, [204, 404])
      const revoked = { id, token, storedAtMs: performance.now() }
      this.revoked.push(revoked)
      this.#watching.push(this.#watch(revoked))
      await sleep(PAUSE_BETWEEN_MS)
    }
    await Promise.all(this.#watching)
  }

  /** Returns the gateways that accept a revoked token at the end, when all of them run. */
  async acceptedAtTheEnd(): Promise<string[]> {
    const found: string[] = []
    for (const host of this.#cluster.hosts) {
      for (const { id, token } of this.revoked) {
        const status = await host.probe(token)
        if (status !== 401) found.push(`${host.name} answers ${status} to the revoked token ${id}`)
      }
    }
    return found
  }

  /** Calls a random gateway until one of the expected statuses is answered. */
  async #untilAnswered(method: string, path: string, expected: readonly number[], body?: object): Promise<ApiReply> {
    for (;;) {
      const { hosts } = this.#cluster
      const host = hosts[Math.floor(this.#random() * hosts.length)]!
      const reply = await host.call(method, path, body).catch(() => undefined)
      const status = reply?.status ?? 0
      this.answers[status] = (this.answers[status] ?? 0) + 1
      if (reply !== undefined && expected.includes(status)) return reply
      await sleep(RETRY_PAUSE_MS)
    }
  }

  async #watch({ id, token, storedAtMs }: Revoked): Promise<void> {
    let nowMs = performance.now()
    const isUncertain = () => Math.min(this.#outages.upForMs(nowMs) ?? 0, nowMs - storedAtMs) < WATCH_UP_MS
    while (isUncertain() && nowMs - storedAtMs < WATCH_LIMIT_MS) {
      await Promise.all(
        this.#cluster.runningHosts.map(async (host) => {
          const askedAtMs = performance.now()
          if ((await host.probe(token)) !== 200) return
          // Traffic goes on while the database is away, so that its absence does not count.
          const upForMs = this.#outages.upForMs(askedAtMs)
          if (upForMs === undefined) return
          this.acceptances.push({ id, host: host.name, afterMs: Math.min(upForMs, askedAtMs - storedAtMs) })
        }),
      )
      await sleep(PROBE_PAUSE_MS)
      nowMs = performance.now()
    }
  }
}
