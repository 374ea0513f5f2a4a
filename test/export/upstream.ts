import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { idsIn } from '../gateway/numbered-body.ts'
import { wholeBody } from './whole-body.ts'

/** The behavior for one request. An accepted request is counted before the reply, even if none is sent. */
export type Behavior =
  | { readonly play: 'accept'; readonly afterMs?: number }
  /** Accepts the request, and resets the connection instead of replying. */
  | { readonly play: 'accept-reset' }
  | { readonly play: 'refuse'; readonly status: 429 | 503; readonly retryAfterSeconds?: number }
  /** Resets the connection before reading the request. */
  | { readonly play: 'reset' }

/** Why the exporter does not know that a request was accepted. */
export type Cause = 'reset' | 'deadline' | 'crash'

/** An accepted request. */
export interface Acceptance {
  readonly signal: string
  /** The life of the exporter that sent it, counted from 0. */
  readonly life: number
  readonly ids: readonly string[]
  /** Why the reply was lost; `undefined` if it was sent and the exporter has not closed the connection since. */
  cause: Cause | undefined
  /** The ids that the exporter had not settled when it died. */
  readonly unsettled: Set<string>
  /** The time of the reply by `performance.now()`; `undefined` if none was sent. */
  answeredAtMs: number | undefined
}

/** If the exporter closes the connection this soon after the reply, it gave up while the reply was on its way. */
const CROSSED_MS = 100

/**
 * An OTLP/HTTP backend with a configurable behavior. It records the accepted requests of each id and signal, and whether their
 * replies arrived.
 */
export class Upstream implements AsyncDisposable {
  /** The accepted requests by `<signal> <id>`, in order. */
  readonly ledger = new Map<string, Acceptance[]>()
  readonly requests: Record<Behavior['play'], number> = { accept: 0, 'accept-reset': 0, refuse: 0, reset: 0 }
  /** The received Authorization headers. */
  readonly credentials = new Set<string | undefined>()
  /** Returns the behavior for the next request. */
  behavior: () => Behavior = () => ({ play: 'accept' })
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

  /** The number of repeated acceptances of a signal and pipeline. */
  get again(): number {
    return [...this.ledger.values()].reduce((sum, acceptances) => sum + acceptances.length - 1, 0)
  }

  /** Call this right before the exporter is killed. */
  lifeEnds(): void {
    this.#isAlive = false
  }

  /** Call this before the exporter is started again. */
  lifeBegins(): void {
    this.#life += 1
    this.#isAlive = true
  }

  /** Records which accepted ids the exporter had not settled in the life that has just ended. */
  recordUnsettled(isOpen: (signal: string, id: string) => boolean): void {
    for (const acceptance of this.#ofThisLife) {
      if (acceptance.cause !== undefined) continue
      for (const id of acceptance.ids) if (isOpen(acceptance.signal, id)) acceptance.unsettled.add(id)
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
    const behavior = this.behavior()
    this.requests[behavior.play] += 1
    this.#latest.delete(socket)
    if (behavior.play === 'reset') {
      socket.resetAndDestroy()
      return
    }
    const body = await wholeBody(request)
    if (body === undefined) return
    this.credentials.add(request.headers.authorization)
    if (behavior.play === 'refuse') {
      const { status, retryAfterSeconds } = behavior
      response.writeHead(status, retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) })
      response.end()
      return
    }
    const acceptance = this.#accept(request.url!.split('/').at(-1)!, life, body)
    if (behavior.play === 'accept-reset') {
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
    if (behavior.afterMs === undefined) answer()
    else setTimeout(answer, behavior.afterMs).unref()
  }

  #accept(signal: string, life: number, body: Buffer): Acceptance {
    const ids = [...new Set(idsIn(body))]
    const cause = this.#isDead(life) ? 'crash' : undefined
    const acceptance: Acceptance = { signal, life, ids, cause, unsettled: new Set(), answeredAtMs: undefined }
    for (const id of ids) {
      const key = `${signal} ${id}`
      const earlier = this.ledger.get(key)
      if (earlier === undefined) this.ledger.set(key, [acceptance])
      else earlier.push(acceptance)
    }
    this.#ofThisLife.push(acceptance)
    return acceptance
  }

  /** Returns whether a life has ended; its sockets may still contain requests. */
  #isDead(life: number): boolean {
    return life < this.#life || !this.#isAlive
  }

  #hungUp(socket: Socket): void {
    const acceptance = this.#latest.get(socket)
    // For a life that has ended, `unsettled` records which replies came too late.
    const isCrossed = acceptance !== undefined && performance.now() - acceptance.answeredAtMs! < CROSSED_MS
    if (isCrossed && !this.#isDead(acceptance.life)) acceptance.cause ??= 'deadline'
    this.#latest.delete(socket)
    this.#sockets.delete(socket)
  }
}
