import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** One request of a client, with times of `performance.now()`. */
export interface Exchange {
  readonly askedMs: number
  /** The time when the head of the answer arrived, or a gRPC client stopped waiting for it. */
  endedMs: number | undefined
  /** The HTTP status, for HTTP/1.1 only: the headers of gRPC are compressed. */
  status: number | undefined
  /** `Retry-After` of an HTTP/1.1 answer in seconds. */
  retryAfter: number | undefined
}

/**
 * A relay between one client and the gateway. It forwards the bytes of each connection unchanged and records the requests.
 * Resets, GOAWAY and `Connection: close` of one side reach the other side.
 */
export class CountingRelay {
  readonly exchanges: Exchange[] = []
  /** The number of connections that the client has opened. */
  connections = 0
  /** The number of HTTP/2 pings of the client. */
  pings = 0
  /** The target port of the next connection. */
  targetPort: number
  readonly #sockets = new Set<Socket>()
  #port = 0

  /** Starts a relay on a loopback port. It is closed with the test. */
  static async start(targetPort: number): Promise<CountingRelay> {
    const relay = new CountingRelay(targetPort)
    const server = createServer({ noDelay: true, allowHalfOpen: true }, (client) => relay.#relay(client))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    relay.#port = (server.address() as { port: number }).port
    onTestFinished(() => {
      server.close()
      for (const socket of relay.#sockets) socket.destroy()
    })
    return relay
  }

  private constructor(targetPort: number) {
    this.targetPort = targetPort
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  #relay(client: Socket): void {
    this.connections += 1
    const gateway = connect({ port: this.targetPort, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    const watch = new ConnectionWatch(this.exchanges, () => {
      this.pings += 1
    })
    client.on('data', (bytes: Buffer) => watch.fromClient(bytes))
    gateway.on('data', (bytes: Buffer) => watch.fromGateway(bytes))
    for (const [from, to] of [
      [client, gateway],
      [gateway, client],
    ] as const) {
      this.#sockets.add(from)
      from.pipe(to)
      from.on('error', () => to.resetAndDestroy())
      from.on('close', () => {
        this.#sockets.delete(from)
        if (!to.writableEnded) to.destroy()
      })
    }
  }
}

const HEADERS_FRAME = 1
const RST_STREAM_FRAME = 3
const PING_FRAME = 6

/** Observes the bytes of one connection. The first bytes decide the version of HTTP. */
class ConnectionWatch {
  readonly #exchanges: Exchange[]
  readonly #onPing: () => void
  #frames: { readonly client: FrameReader; readonly gateway: FrameReader } | undefined
  #isHttp1 = false
  readonly #byStream = new Map<number, Exchange>()
  readonly #unanswered: Exchange[] = []

  /** `onPing` is called for each ping of the client, and for each of its answers to a ping of the gateway. */
  constructor(exchanges: Exchange[], onPing: () => void) {
    this.#exchanges = exchanges
    this.#onPing = onPing
  }

  fromClient(bytes: Buffer): void {
    if (this.#frames === undefined && !this.#isHttp1) {
      this.#isHttp1 = bytes.toString('latin1', 0, 3) !== 'PRI'
      if (!this.#isHttp1)
        this.#frames = {
          client: new FrameReader('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'.length),
          gateway: new FrameReader(0),
        }
    }
    if (this.#isHttp1) {
      // Every client sends a head in one piece, and no body of these tests looks like a head.
      for (const _ of bytes.toString('latin1').matchAll(/POST \/v1\/\w+ HTTP\/1\.1\r\n/g)) {
        this.#unanswered.push(this.#asked())
      }
    } else {
      for (const { type, stream } of this.#frames!.client.read(bytes)) {
        if (type === PING_FRAME) this.#onPing()
        const exchange = this.#byStream.get(stream)
        if (type === HEADERS_FRAME && exchange === undefined) this.#byStream.set(stream, this.#asked())
        if (type === RST_STREAM_FRAME && exchange !== undefined) exchange.endedMs ??= performance.now()
      }
    }
  }

  fromGateway(bytes: Buffer): void {
    if (this.#isHttp1) {
      for (const [head, status] of bytes.toString('latin1').matchAll(/HTTP\/1\.1 ([2-5]\d\d) .*?\r\n\r\n/gs)) {
        const exchange = this.#unanswered.shift()
        if (exchange === undefined) continue
        exchange.endedMs = performance.now()
        exchange.status = Number(status)
        const seconds = /\r\nretry-after: (\d+)\r\n/i.exec(head)?.[1]
        exchange.retryAfter = seconds === undefined ? undefined : Number(seconds)
      }
    } else {
      for (const { type, stream } of this.#frames?.gateway.read(bytes) ?? []) {
        const exchange = this.#byStream.get(stream)
        if (type === HEADERS_FRAME && exchange !== undefined) exchange.endedMs ??= performance.now()
      }
    }
  }

  #asked(): Exchange {
    const exchange = { askedMs: performance.now(), endedMs: undefined, status: undefined, retryAfter: undefined }
    this.#exchanges.push(exchange)
    return exchange
  }
}

const FRAME_HEAD_BYTES = 9

/**
 * The frames of one direction of an HTTP/2 connection:
 *
 *     length (3) | type (1) | flags (1) | stream (4) | payload (length)
 */
class FrameReader {
  #skip: number
  #rest = Buffer.alloc(0)

  constructor(prefaceBytes: number) {
    this.#skip = prefaceBytes
  }

  *read(bytes: Buffer): Generator<{ readonly type: number; readonly stream: number }> {
    this.#rest = Buffer.concat([this.#rest, bytes])
    for (;;) {
      const skipped = Math.min(this.#skip, this.#rest.length)
      this.#rest = this.#rest.subarray(skipped)
      this.#skip -= skipped
      if (this.#skip > 0 || this.#rest.length < FRAME_HEAD_BYTES) return
      this.#skip = FRAME_HEAD_BYTES + this.#rest.readUIntBE(0, 3)
      yield { type: this.#rest[3]!, stream: this.#rest.readUInt32BE(5) & 0x7fffffff }
    }
  }
}
