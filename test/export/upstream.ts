import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { idsIn } from '../gateway/numbered-body.ts'

/** What becomes of a request; those that accept count it before they answer, or do not. */
export type Manner =
  | { readonly play: 'accept'; readonly afterMs?: number }
  /** Accepted, and the connection is reset instead of an answer. */
  | { readonly play: 'accept-reset' }
  | { readonly play: 'refuse'; readonly status: 429 | 503; readonly retryAfterSeconds?: number }
  /** Reset before anything has been looked at. */
  | { readonly play: 'reset' }

/** Why the exporter does not know that a request was accepted. */
export type Cause = 'reset' | 'deadline' | 'crash'

/** One request that was accepted. */
export interface Acceptance {
  readonly signal: string
  /** Of which life of the exporter, from 0. */
  readonly life: number
  readonly ids: readonly string[]
  /** Of the whole request; `undefined`: the answer has gone out, and the other side has not hung up since. */
  cause: Cause | undefined
  /** Of those ids alone, the exporter having died before it had noted their success. */
  readonly unnoted: Set<string>
  /** By `performance.now()`; `undefined` when no answer has gone out. */
  answeredAtMs: number | undefined
}

/** Whoever hangs up so soon after an answer had given it up while it was on its way. */
const CROSSED_MS = 100

/**
 * An OTLP/HTTP backend with moods. Keeps a ledger of what it has accepted: of each id in each signal the requests, and whether
 * their answers reached anybody.
 */
export class Upstream implements AsyncDisposable {
  /** By `<signal> <id>`, in order. */
  readonly ledger = new Map<string, Acceptance[]>()
  readonly requests: Record<Manner['play'], number> = { accept: 0, 'accept-reset': 0, refuse: 0, reset: 0 }
  /** Authorization headers that have come. */
  readonly credentials = new Set<string | undefined>()
  /** Asked once per request. */
  manner: () => Manner = () => ({ play: 'accept' })
  #life = 0
  #isAlive = true
  readonly #server: Server
  readonly #sockets = new Map<Socket, number>()
  readonly #latest = new Map<Socket, Acceptance>()

  static async start(port = 0): Promise<Upstream> {
    const upstream = new Upstream()
    await new Promise<void>((resolve) => upstream.#server.listen(port, '127.0.0.1', resolve))
    return upstream
  }

  private constructor() {
    this.#server = createServer((request, response) => this.#serve(request, response))
    this.#server.keepAliveTimeout = 120_000
    this.#server.on('connection', (socket) => {
      this.#sockets.set(socket, this.#life)
      socket.on('error', () => {})
      socket.once('close', () => this.#hungUp(socket))
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Accepted exports beyond the first of their signal and pipeline. */
  get again(): number {
    return [...this.ledger.values()].reduce((sum, acceptances) => sum + acceptances.length - 1, 0)
  }

  /** To be called right before the exporter is killed. */
  lifeEnds(): void {
    this.#isAlive = false
  }

  /** To be called before it is started again. */
  lifeBegins(): void {
    this.#life += 1
    this.#isAlive = true
  }

  /** Of the life that has just ended: what it had not noted as delivered. */
  unnoted(isOpen: (signal: string, id: string) => boolean): void {
    for (const acceptance of this.#ofThisLife) {
      if (acceptance.cause !== undefined) continue
      for (const id of acceptance.ids) if (isOpen(acceptance.signal, id)) acceptance.unnoted.add(id)
    }
    this.#ofThisLife = []
  }

  #ofThisLife: Acceptance[] = []

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.#sockets.keys()) socket.destroy()
    await closed
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request
    const life = this.#sockets.get(socket)!
    const manner = this.manner()
    this.requests[manner.play] += 1
    this.#latest.delete(socket)
    if (manner.play === 'reset') {
      socket.resetAndDestroy()
      return
    }
    const body = await bodyOf(request)
    if (body === undefined) return
    this.credentials.add(request.headers.authorization)
    if (manner.play === 'refuse') {
      const { status, retryAfterSeconds } = manner
      response.writeHead(status, retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) })
      response.end()
      return
    }
    const acceptance = this.#accept(request.url!.split('/').at(-1)!, life, body)
    if (manner.play === 'accept-reset') {
      acceptance.cause = 'reset'
      socket.resetAndDestroy()
      return
    }
    response.once('close', () => {
      if (!response.writableFinished) acceptance.cause ??= this.#isDead(life) ? 'crash' : 'deadline'
    })
    const answer = () => {
      if (response.destroyed) return
      response.writeHead(200, { 'content-type': 'application/x-protobuf', 'content-length': '0' })
      response.end(() => {
        acceptance.answeredAtMs = performance.now()
        if (this.#isDead(life)) acceptance.cause ??= 'crash'
        else this.#latest.set(socket, acceptance)
      })
    }
    if (manner.afterMs === undefined) answer()
    else setTimeout(answer, manner.afterMs).unref()
  }

  #accept(signal: string, life: number, body: Buffer): Acceptance {
    const ids = [...new Set(idsIn(body))]
    const cause = this.#isDead(life) ? 'crash' : undefined
    const acceptance: Acceptance = { signal, life, ids, cause, unnoted: new Set(), answeredAtMs: undefined }
    for (const id of ids) {
      const key = `${signal} ${id}`
      const earlier = this.ledger.get(key)
      if (earlier === undefined) this.ledger.set(key, [acceptance])
      else earlier.push(acceptance)
    }
    this.#ofThisLife.push(acceptance)
    return acceptance
  }

  /** What still comes out of the sockets of a life that has ended. */
  #isDead(life: number): boolean {
    return life < this.#life || !this.#isAlive
  }

  #hungUp(socket: Socket): void {
    const acceptance = this.#latest.get(socket)
    // Of a life that has ended it is known which answers came too late: see `unnoted`.
    const isCrossed = acceptance !== undefined && performance.now() - acceptance.answeredAtMs! < CROSSED_MS
    if (isCrossed && !this.#isDead(acceptance.life)) acceptance.cause ??= 'deadline'
    this.#latest.delete(socket)
    this.#sockets.delete(socket)
  }
}

/** Decompressed; `undefined` when it broke off. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = []
  try {
    for await (const part of request) parts.push(part)
  } catch {
    return undefined
  }
  const wire = Buffer.concat(parts)
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(wire) : wire
}
