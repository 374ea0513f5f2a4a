import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface RawLoadOptions {
  readonly port: number
  readonly perSecond: number
  readonly count: number
  readonly connections: number
  /** The number of requests that are written together on one connection. More than one reduces the cost of the generator. */
  readonly together?: number
  /** Returns the text after `Bearer ` for a request, counted from 0. */
  readonly tokenOf: (index: number) => string
  readonly body: Uint8Array
}

export interface RawLoadResult {
  /** The number of answers by HTTP status. */
  readonly answers: Readonly<Record<string, number>>
  readonly unanswered: number
  readonly seconds: number
  /** The latencies from the time when a request was due, even if it was sent later. */
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
  /** The delay of the generator itself for 99 % of the requests, which is part of the latencies. */
  readonly lateP99Ms: number
}

const TICK_MS = 1
const LAST_ANSWERS_MS = 10_000
const STATUS_LINE = Buffer.from('HTTP/1.1 ')
const STATUS_LENGTH = 3

/**
 * Sends export requests at a fixed rate on plain sockets, in turns on all connections, independently of the answers. In this
 * open loop, latencies count from the time when each request was due, so a slow server does not get fewer requests.
 */
export async function rawLoad(options: RawLoadOptions): Promise<RawLoadResult> {
  const { count, perSecond, connections, together = 1, tokenOf, body } = options
  const answers: Record<string, number> = {}
  const latenciesMs = new Float64Array(count)
  const latenessMs = new Float64Array(count)
  let answered = 0
  let sent = 0
  const lines = await Promise.all(
    Array.from({ length: connections }, () =>
      Line.open(options.port, (status, dueMs) => {
        answers[status] = (answers[status] ?? 0) + 1
        latenciesMs[answered] = performance.now() - dueMs
        answered += 1
      }),
    ),
  )
  const startMs = performance.now()
  let turn = 0
  while (sent < count) {
    const nowMs = performance.now()
    const due = Math.min(count, Math.floor(((nowMs - startMs) * perSecond) / 1_000))
    while (sent + together <= due || (due === count && sent < count)) {
      const end = Math.min(sent + together, count)
      const line = lines[turn % connections]!
      line.cork()
      for (; sent < end; sent += 1) {
        const dueMs = startMs + (sent * 1_000) / perSecond
        latenessMs[sent] = Math.max(0, performance.now() - dueMs)
        line.send(requestHead(tokenOf(sent), body.length), body, dueMs)
      }
      line.uncork()
      turn += 1
    }
    await sleep(TICK_MS)
  }
  const lastMs = performance.now()
  while (answered < sent && performance.now() - lastMs < LAST_ANSWERS_MS) await sleep(TICK_MS)
  for (const line of lines) line.close()
  const sorted = latenciesMs.subarray(0, answered).sort()
  return {
    answers,
    unanswered: sent - answered,
    seconds: (lastMs - startMs) / 1_000,
    p50Ms: sorted[Math.floor(answered * 0.5)] ?? 0,
    p99Ms: sorted[Math.floor(answered * 0.99)] ?? 0,
    maxMs: sorted[answered - 1] ?? 0,
    lateP99Ms: latenessMs.sort()[Math.floor(count * 0.99)] ?? 0,
  }
}

const requestHead = (token: string, bodyBytes: number): string =>
  `POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1\r\nUser-Agent: OTel-OTLP-Exporter-JavaScript/0.223.0\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/x-protobuf\r\nContent-Length: ${bodyBytes}\r\n\r\n`

/** One connection. Answers arrive in the order of the requests; only their status lines are read. */
class Line {
  readonly #socket: Socket
  readonly #onAnswer: (status: string, dueMs: number) => void
  readonly #dueMs: number[] = []
  #tail: Buffer = Buffer.alloc(0)

  static async open(port: number, onAnswer: (status: string, dueMs: number) => void): Promise<Line> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
    return new Line(socket, onAnswer)
  }

  private constructor(socket: Socket, onAnswer: (status: string, dueMs: number) => void) {
    this.#socket = socket
    this.#onAnswer = onAnswer
    // The unanswered requests of a broken connection are counted.
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => this.#received(chunk))
  }

  cork(): void {
    this.#socket.cork()
  }

  uncork(): void {
    this.#socket.uncork()
  }

  send(head: string, body: Uint8Array, dueMs: number): void {
    this.#dueMs.push(dueMs)
    this.#socket.write(head, 'latin1')
    this.#socket.write(body)
  }

  close(): void {
    this.#socket.destroy()
  }

  #received(chunk: Buffer): void {
    const bytes = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk])
    let at = 0
    for (;;) {
      const start = bytes.indexOf(STATUS_LINE, at)
      const statusAt = start + STATUS_LINE.length
      if (start === -1 || statusAt + STATUS_LENGTH > bytes.length) {
        this.#tail = bytes.subarray(start === -1 ? Math.max(at, bytes.length - STATUS_LINE.length + 1) : start)
        return
      }
      at = statusAt + STATUS_LENGTH
      this.#onAnswer(bytes.toString('latin1', statusAt, at), this.#dueMs.shift()!)
    }
  }
}
