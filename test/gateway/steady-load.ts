import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { idOf, numberedBody } from './numbered-body.ts'

export interface SteadyLoadOptions<Mark> {
  /** The OTLP/HTTP base URL. */
  readonly url: string
  readonly perSecond: number
  readonly token?: string
  /** Ids are counted from here, so that several loads can share a sink. */
  readonly firstNumber?: number
  /** Retries as OTLP permits: 429, 502, 503 and 504 after `Retry-After`, a broken connection after a delay. Other answers are final. */
  readonly isRetrying: boolean
  /** Called when a request is sent. Its result is passed to `onAnswer`. */
  readonly mark?: () => Mark
  readonly onAnswer?: (status: number, mark: Mark) => void
}

export interface SteadyLoadResult {
  readonly sent: number
  /** The ids that were answered with 200. */
  readonly acceptedIds: readonly string[]
  /** The number of answers by status, including retried requests. */
  readonly answers: Readonly<Record<number, number>>
  /** The errors of requests with a broken connection. */
  readonly broken: readonly string[]
  /** The ids of requests that never got 200. */
  readonly lostIds: readonly string[]
  readonly p99Ms: number
  readonly slowestMs: number
}

const CONNECTIONS = 64
const TICK_MS = 5
/** The time for which an exporter retries. */
const GIVE_UP_MS = 30_000
const BACKOFF_MS = 250
const retryable = new Set([429, 502, 503, 504])

/** Exports at a fixed rate, whatever the answers: an open loop, in which a slow server falls behind visibly. */
export class SteadyLoad<Mark = undefined> {
  readonly #options: SteadyLoadOptions<Mark>
  readonly #pool: Pool
  readonly #startMs = performance.now()
  readonly #timer: NodeJS.Timeout
  readonly #pending = new Set<Promise<void>>()
  readonly #acceptedIds: string[] = []
  readonly #lostIds: string[] = []
  readonly #answers: Record<number, number> = {}
  readonly #broken: string[] = []
  readonly #latenciesMs: number[] = []
  #sent = 0

  constructor(options: SteadyLoadOptions<Mark>) {
    this.#options = options
    this.#pool = new Pool(options.url, { connections: CONNECTIONS, pipelining: 1 })
    this.#timer = setInterval(() => this.#sendDue(), TICK_MS)
  }

  /** The number of requests with a first answer. */
  get answered(): number {
    return this.#latenciesMs.length
  }

  get sent(): number {
    return this.#sent
  }

  /** Stops sending, and resolves when every request has ended. */
  async stop(): Promise<SteadyLoadResult> {
    clearInterval(this.#timer)
    await Promise.all(this.#pending)
    await this.#pool.close()
    const latencies = this.#latenciesMs.toSorted((a, b) => a - b)
    return {
      sent: this.#sent,
      acceptedIds: this.#acceptedIds,
      answers: this.#answers,
      broken: this.#broken,
      lostIds: this.#lostIds,
      p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? 0,
      slowestMs: latencies.at(-1) ?? 0,
    }
  }

  #sendDue(): void {
    const due = Math.floor(((performance.now() - this.#startMs) * this.#options.perSecond) / 1_000)
    while (this.#sent < due) {
      const sending = this.#export(idOf((this.#options.firstNumber ?? 0) + this.#sent))
      this.#sent += 1
      this.#pending.add(sending)
      void sending.finally(() => this.#pending.delete(sending))
    }
  }

  async #export(id: string): Promise<void> {
    const { isRetrying } = this.#options
    const startMs = performance.now()
    const body = numberedBody(id)
    for (let attempt = 0; ; attempt += 1) {
      const { status, retryAfterMs } = await this.#attempt(body)
      if (attempt === 0) this.#latenciesMs.push(performance.now() - startMs)
      if (status === 200) {
        this.#acceptedIds.push(id)
        return
      }
      const mayRetry = status === undefined || retryable.has(status)
      if (!isRetrying || !mayRetry || performance.now() - startMs > GIVE_UP_MS) {
        this.#lostIds.push(id)
        return
      }
      await sleep(Math.max(retryAfterMs, BACKOFF_MS * 1.5 ** attempt * (0.5 + Math.random())))
    }
  }

  /** Sends one request. `status` is `undefined` if the connection broke. */
  async #attempt(body: Buffer): Promise<{ status: number | undefined; retryAfterMs: number }> {
    const { token, mark, onAnswer } = this.#options
    const marked = mark?.()
    try {
      const {
        statusCode,
        headers,
        body: reply,
      } = await this.#pool.request({
        method: 'POST',
        path: '/v1/traces',
        headers: {
          'content-type': 'application/x-protobuf',
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        body,
      })
      await reply.dump()
      this.#answers[statusCode] = (this.#answers[statusCode] ?? 0) + 1
      onAnswer?.(statusCode, marked as Mark)
      return { status: statusCode, retryAfterMs: Number(headers['retry-after'] ?? 0) * 1_000 }
    } catch (error) {
      this.#broken.push((error as Error).message)
      return { status: undefined, retryAfterMs: 0 }
    }
  }
}
