import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { frame } from '../wire/grpc-wire.ts'

export interface GrpcRequest {
  readonly headers: IncomingHttpHeaders
  /** The prefix and the message. */
  readonly framed: Buffer
  readonly stream: ServerHttp2Stream
  readonly session: ServerHttp2Session
}

export type GrpcPlay = (request: GrpcRequest) => void

/**
 * A gRPC server on a loopback port that answers complete requests with scripted replies, in the order of their arrival.
 */
export class GrpcScript {
  readonly requests: GrpcRequest[] = []
  readonly sessions: ServerHttp2Session[] = []
  readonly sockets: Socket[] = []
  /** All calls that have begun, including those that have ended. */
  readonly begun: ServerHttp2Stream[] = []
  readonly #server: Http2Server
  readonly #watchers: (() => void)[] = []

  static async start(
    plays: readonly GrpcPlay[] | GrpcPlay,
    options: { onHeaders?: boolean } = {},
  ): Promise<GrpcScript> {
    const started = new GrpcScript(plays, options.onHeaders ?? false)
    await new Promise<void>((resolve) => started.#server.listen(0, '127.0.0.1', resolve))
    return started
  }

  private constructor(plays: readonly GrpcPlay[] | GrpcPlay, onHeaders: boolean) {
    const playOf = (index: number) => (typeof plays === 'function' ? plays : (plays[index] ?? ok))
    this.#server = createServer()
    this.#server.on('connection', (socket: Socket) => this.sockets.push(socket))
    this.#server.on('session', (session) => {
      this.sessions.push(session)
      session.on('error', () => {})
    })
    this.#server.on('stream', (stream, headers) => {
      stream.on('error', () => {})
      this.begun.push(stream)
      const session = stream.session as ServerHttp2Session
      if (onHeaders) {
        playOf(this.requests.push({ headers, framed: Buffer.alloc(0), stream, session }) - 1)(this.requests.at(-1)!)
        this.#notify()
        return
      }
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => {
        // Node also emits `end` for a stream that was reset.
        if (stream.aborted || stream.destroyed) return
        const request = { headers, framed: Buffer.concat(parts), stream, session }
        playOf(this.requests.push(request) - 1)(request)
        this.#notify()
      })
      this.#notify()
    })
  }

  get url(): URL {
    return new URL(`grpc://127.0.0.1:${(this.#server.address() as AddressInfo).port}`)
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#watchers.push(resolve))
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    for (const socket of this.sockets) socket.destroy()
    await closed
  }

  #notify(): void {
    for (const resolve of this.#watchers.splice(0)) resolve()
  }
}

export const ok: GrpcPlay = (request) => reply({})(request)

/** Replies with headers, one message and trailers. */
export function reply(parts: {
  message?: Uint8Array
  isCompressed?: boolean
  headers?: OutgoingHttpHeaders
  trailers?: OutgoingHttpHeaders
}): GrpcPlay {
  return ({ stream }) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...parts.headers }, { waitForTrailers: true })
    stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', ...parts.trailers }))
    stream.end(frame(parts.message ?? new Uint8Array(0), parts.isCompressed ?? false))
  }
}

/** Replies with a single HEADERS frame. */
export function trailersOnly(headers: OutgoingHttpHeaders): GrpcPlay {
  return ({ stream }) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...headers }, { endStream: true })
  }
}
