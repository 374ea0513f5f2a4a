import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { CountingSink } from '../../gateway/counting-sink.ts'
import { type ApiReply, ProcessGateway } from '../../gateway/process-gateway.ts'

const PEPPERS = `shared:${Buffer.alloc(32, 7).toString('base64')}`
/** A start takes half a minute on a busy machine, and fails if the database is killed in between. */
const START_AGAIN_LIMIT_MS = 600_000
const START_PAUSE_MS = 250
/** Probes of several tokens and loads must not wait for each other. */
const CONNECTIONS = 16
/** How often a gateway is asked while it does not obey yet. */
const PROBE_PAUSE_MS = 5

/** A host with a data directory, a gateway process and an upstream of its own, which counts what this gateway forwards. */
export class GatewayHost implements AsyncDisposable {
  readonly name: string
  readonly sink: CountingSink
  readonly #databaseUrl: string
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'penstock-host-'))
  readonly #lives: ProcessGateway[] = []
  #running: ProcessGateway | undefined
  #pool: Pool | undefined

  static async start(name: string, databaseUrl: string): Promise<GatewayHost> {
    const host = new GatewayHost(name, databaseUrl, await CountingSink.start())
    try {
      await host.#start()
      return host
    } catch (error) {
      await host[Symbol.asyncDispose]()
      throw error
    }
  }

  private constructor(name: string, databaseUrl: string, sink: CountingSink) {
    this.name = name
    this.#databaseUrl = databaseUrl
    this.sink = sink
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  get otlpPort(): number {
    return this.#lives[0]!.ports.http
  }

  /** The logs of all processes that have run on this host. */
  get logs(): string {
    return this.#lives.map(({ stderr }) => stderr).join('')
  }

  /** The number of requests that the upstream of this host has received. */
  get forwarded(): number {
    return [...this.sink.arrivals.values()].reduce((sum, count) => sum + count, 0)
  }

  /** Kills the gateway with SIGKILL. Resolves when it has ended. */
  async kill(): Promise<void> {
    const gateway = this.#running!
    this.#running = undefined
    await gateway.stop('SIGKILL')
  }

  /** Starts the gateway again. A start while the database is away fails, and is tried again. */
  async startAgain(): Promise<void> {
    const deadlineAtMs = performance.now() + START_AGAIN_LIMIT_MS
    while (this.#running === undefined) {
      try {
        await this.#start()
      } catch (error) {
        if (performance.now() > deadlineAtMs) throw error
        await sleep(START_PAUSE_MS)
      }
    }
  }

  /** Stops the gateway in order, so that it stores what it has counted. Returns its exit code. */
  async stop(): Promise<number | null> {
    const gateway = this.#running
    this.#running = undefined
    return gateway === undefined ? 0 : gateway.stop()
  }

  /** Calls the management API. Rejects if the gateway does not run, or ends during the call. */
  call(method: string, path: string, body?: object): Promise<ApiReply> {
    const gateway = this.#running
    if (gateway === undefined) return Promise.reject(new Error(`${this.name} does not run`))
    return gateway.call(method, path, body)
  }

  /** Exports an empty request. Returns the status, or `undefined` if there was no answer. */
  async probe(token: string | undefined): Promise<number | undefined> {
    try {
      const { statusCode, body } = await this.#pool!.request({
        method: 'POST',
        path: '/v1/traces',
        headers: {
          'content-type': 'application/json',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body: '{}',
      })
      await body.dump()
      return statusCode
    } catch {
      return undefined
    }
  }

  /**
   * Probes until the answer is `status`. Returns the time since `sinceMs`, by `performance.now()`, at which it was asked for
   * this answer; `undefined` if it does not come within `limitMs`.
   */
  async timeUntil(
    token: string | undefined,
    status: number,
    { sinceMs, limitMs }: { readonly sinceMs: number; readonly limitMs: number },
  ): Promise<number | undefined> {
    for (;;) {
      const askedAtMs = performance.now()
      if ((await this.probe(token)) === status) return Math.max(0, askedAtMs - sinceMs)
      if (askedAtMs - sinceMs > limitMs) return undefined
      await sleep(PROBE_PAUSE_MS)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool?.destroy()
    await this.#running?.[Symbol.asyncDispose]()
    await this.sink[Symbol.asyncDispose]()
    rmSync(this.#dataDir, { recursive: true, force: true })
  }

  async #start(): Promise<void> {
    const ports = this.#lives[0]?.ports
    const gateway = await ProcessGateway.start({
      upstream: this.sink.url,
      dataDir: this.#dataDir,
      env: { PENSTOCK_GATEWAY_DATABASE_URL: this.#databaseUrl, PENSTOCK_PEPPERS: PEPPERS },
      ...(ports && { ports }),
    })
    this.#lives.push(gateway)
    this.#running = gateway
    this.#pool ??= new Pool(gateway.otlpUrl, { connections: CONNECTIONS, pipelining: 1 })
  }
}
