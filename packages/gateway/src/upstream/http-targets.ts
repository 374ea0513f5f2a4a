import { isIP } from 'node:net'
import { buildConnector, Pool } from 'undici'
import type { WatchedFile } from './credential-file.ts'
import type { Resolve } from './grpc-addresses.ts'

/** How long a name's addresses count. */
const KNOWN_FOR_MS = 30_000
/** So many failures to connect in a row, and an address is left alone for a while. */
const FAILURES_TO_REST = 3
const REST_MS = 10_000
const CONNECT_TIMEOUT_MS = 2_000
/** Below the 60 s of a collector: a connection closed by the other side while we write is an unknown outcome. */
const IDLE_CLOSE_MS = 30_000
/** Of one name; further ones are not used. */
const MAX_ADDRESSES = 32

/** One address of an upstream, with its own connections. */
export interface Target {
  readonly address: string
  readonly pool: Pool
  failures: number
  restsUntilMs: number
}

export interface TargetsOptions {
  readonly origin: URL
  /** Per address. */
  readonly connections: number
  readonly ca: WatchedFile<string> | undefined
  readonly resolve: Resolve
  readonly nowMs: () => number
}

/** The addresses behind one name, taken in turn by request, so that each of them gets its part of the load. */
export class HttpTargets {
  readonly #options: TargetsOptions
  readonly #host: string
  #targets: readonly Target[] = []
  #knownUntilMs = Number.NEGATIVE_INFINITY
  #resolving: Promise<void> | undefined
  #turn = 0

  constructor(options: TargetsOptions) {
    this.#options = options
    // A URL writes an IPv6 address in brackets.
    this.#host = options.origin.hostname.replace(/^\[(.*)\]$/, '$1')
    if (isIP(this.#host) !== 0) {
      this.#targets = [this.#target(this.#host)]
      this.#knownUntilMs = Number.POSITIVE_INFINITY
    }
  }

  /**
   * `undefined` when there are addresses to pick from; asking again for old ones goes on beside. Before the first
   * answer a promise, which rejects with the resolver's error.
   */
  refreshed(): Promise<void> | undefined {
    if (this.#options.nowMs() >= this.#knownUntilMs) this.#resolving ??= this.#resolve()
    return this.#targets.length > 0 ? undefined : this.#resolving
  }

  /** When all of them rest, they are tried nevertheless. Another one than `not`, if there is another. */
  pick(not: Target | undefined): Target {
    const nowMs = this.#options.nowMs()
    const targets = this.#targets
    this.#turn = (this.#turn + 1) % targets.length
    let fallback: Target | undefined
    for (let step = 0; step < targets.length; step += 1) {
      const target = targets[(this.#turn + step) % targets.length]!
      if (target === not) continue
      if (target.restsUntilMs <= nowMs) return target
      fallback ??= target
    }
    return fallback ?? targets[this.#turn]!
  }

  failed(target: Target): void {
    target.failures += 1
    if (target.failures < FAILURES_TO_REST) return
    target.failures = 0
    target.restsUntilMs = this.#options.nowMs() + REST_MS
  }

  /** Waits for the requests under way, each of which has its own deadline. */
  async close(): Promise<void> {
    await Promise.all(this.#targets.map(({ pool }) => pool.close()))
  }

  /** When the resolver fails, what was known goes on to count. */
  async #resolve(): Promise<void> {
    try {
      const addresses = (await this.#options.resolve(this.#host)).slice(0, MAX_ADDRESSES)
      if (addresses.length === 0) throw Object.assign(new Error('the name has no address'), { code: 'ENODATA' })
      this.#use(addresses)
      this.#knownUntilMs = this.#options.nowMs() + KNOWN_FOR_MS
    } catch (error) {
      if (this.#targets.length === 0) throw error
      this.#knownUntilMs = this.#options.nowMs() + KNOWN_FOR_MS
    } finally {
      this.#resolving = undefined
    }
  }

  #use(addresses: readonly string[]): void {
    const before = this.#targets
    this.#targets = addresses.map(
      (address) => before.find((target) => target.address === address) ?? this.#target(address),
    )
    for (const target of before) {
      // What is under way there may finish.
      if (!this.#targets.includes(target)) target.pool.close(() => {})
    }
  }

  #target(address: string): Target {
    const { origin, connections } = this.#options
    const pool = new Pool(origin.origin, {
      connections,
      pipelining: 1,
      keepAliveTimeout: IDLE_CLOSE_MS,
      keepAliveMaxTimeout: IDLE_CLOSE_MS,
      // Each request has its deadline.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: this.#connectTo(address),
    })
    return { address, pool, failures: 0, restsUntilMs: 0 }
  }

  /** The origin's name stays in the Host header and in TLS; only the way there is fixed. */
  #connectTo(address: string): buildConnector.connector {
    const { ca } = this.#options
    let connector = buildConnector({ timeout: CONNECT_TIMEOUT_MS, ...(ca && { ca: ca.value }) })
    let trusted = ca?.value
    const connect: buildConnector.connector = (options, callback) => {
      if (ca !== undefined && ca.value !== trusted) {
        trusted = ca.value
        connector = buildConnector({ timeout: CONNECT_TIMEOUT_MS, ca: trusted })
      }
      connector({ ...options, hostname: address }, callback)
    }
    return connect
  }
}
