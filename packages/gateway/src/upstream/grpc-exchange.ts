import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import type { Readable } from 'node:stream'
import { frame, framePrefix } from '../wire/grpc-wire.ts'
import type { GrpcSession } from './grpc-sessions.ts'

/** The longest reply that is kept (P-15). */
export const MAX_REPLY_BYTES = 4 * 1024 * 1024
/** Up to this size, copying the message behind its prefix is cheaper than a second write. */
const COPIED_BYTES = 16 * 1024

const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM } = constants

/** One protobuf message to be sent. */
export interface GrpcMessage {
  readonly headers: OutgoingHttpHeaders
  readonly isCompressed: boolean
  readonly body: Uint8Array | Readable
  /** The length of the body. */
  readonly bytes: number
}

export interface GrpcReply {
  readonly kind: 'reply'
  readonly httpStatus: number
  /** The trailers, or the headers of a Trailers-Only reply. They normally contain `grpc-status`. */
  readonly trailers: IncomingHttpHeaders
  /** The reply's frame: prefix and message. `undefined` if it is longer than `MAX_REPLY_BYTES`. */
  readonly framed: Uint8Array | undefined
  readonly encoding: string | undefined
}

/**
 * How an exchange ended:
 * - `unprocessed`: upstream has declared, with REFUSED_STREAM or GOAWAY, that it has not processed the request
 * - `broken_off`: the stream ended without a status, so the outcome is unknown
 * - `late`: aborted by the gateway at the deadline
 * - `abandoned`: aborted by the gateway because the client has gone, or its body failed
 */
export type GrpcExchangeEnd = GrpcReply | { readonly kind: 'unprocessed' | 'broken_off' | 'late' | 'abandoned' }

const noBytes = Buffer.alloc(0)
const exchangeOf = Symbol('exchange')
type ExchangeStream = ClientHttp2Stream & { [exchangeOf]: GrpcExchange }

/** One request and its reply on one stream. Calls `end` exactly once, and never before the constructor returns. */
export class GrpcExchange {
  readonly deadlineMs: number
  /** The index of this exchange in the upstream's list. */
  index = -1
  readonly #session: GrpcSession
  readonly #stream: ExchangeStream
  readonly #nowMs: () => number
  readonly #end: (end: GrpcExchangeEnd, exchange: GrpcExchange) => void
  #isOver = false
  #httpStatus = 0
  #encoding: string | undefined
  #trailers: IncomingHttpHeaders | undefined
  #framed: Uint8Array = noBytes
  #parts: Uint8Array[] | undefined
  #replyBytes = 0

  /** Sends the request. Throws the error of node:http2 if the headers are invalid or the session has ended. */
  constructor(
    session: GrpcSession,
    message: GrpcMessage,
    deadlineMs: number,
    nowMs: () => number,
    end: (end: GrpcExchangeEnd, exchange: GrpcExchange) => void,
  ) {
    this.#session = session
    this.deadlineMs = deadlineMs
    this.#nowMs = nowMs
    this.#end = end
    const stream = session.http2.request(message.headers) as ExchangeStream
    this.#stream = stream
    stream[exchangeOf] = this
    session.streams += 1
    stream.on('response', onResponse)
    stream.on('trailers', onTrailers)
    stream.on('data', onData)
    stream.on('end', onEnd)
    stream.on('error', onError)
    stream.on('close', onClose)
    this.#write(message)
  }

  abort(kind: 'late' | 'abandoned'): void {
    this.#finish({ kind })
    this.#stream.close(NGHTTP2_CANCEL)
  }

  response(headers: IncomingHttpHeaders): void {
    this.#noteActivity()
    this.#httpStatus = Number(headers[':status'])
    this.#encoding = headers['grpc-encoding'] as string | undefined
    if (headers['grpc-status'] !== undefined || this.#httpStatus !== 200) this.#trailers = headers
  }

  lastHeaders(headers: IncomingHttpHeaders): void {
    this.#noteActivity()
    this.#trailers = headers
  }

  data(part: Uint8Array): void {
    this.#replyBytes += part.length
    if (this.#replyBytes > MAX_REPLY_BYTES) {
      this.#parts = undefined
      this.#framed = noBytes
    } else if (this.#framed.length === 0 && this.#parts === undefined) {
      this.#framed = part
    } else {
      this.#parts ??= [this.#framed]
      this.#parts.push(part)
    }
  }

  /**
   * Finishes the exchange when the reply is complete, and stops sending the request body if it has not been sent yet.
   */
  replyEnded(): void {
    if (this.#trailers === undefined) return
    this.#finish(this.#reply(this.#trailers))
    if (!this.#stream.writableFinished) this.#stream.close(NGHTTP2_CANCEL)
  }

  closed(): void {
    this.#session.streams -= 1
    if (this.#isOver) return
    const { id, rstCode } = this.#stream
    if (this.#trailers !== undefined) this.#finish(this.#reply(this.#trailers))
    else if (rstCode === NGHTTP2_REFUSED_STREAM) this.#finish({ kind: 'unprocessed' })
    else if (id === undefined || id > this.#session.lastStreamId) this.#finish({ kind: 'unprocessed' })
    else if (this.#httpStatus !== 0 && rstCode === constants.NGHTTP2_NO_ERROR) this.#finish(this.#reply({}))
    else this.#finish({ kind: 'broken_off' })
  }

  #reply(trailers: IncomingHttpHeaders): GrpcReply {
    const isTooLong = this.#replyBytes > MAX_REPLY_BYTES
    const framed = this.#parts === undefined ? this.#framed : Buffer.concat(this.#parts)
    return {
      kind: 'reply',
      httpStatus: this.#httpStatus,
      trailers,
      framed: isTooLong ? undefined : framed,
      encoding: this.#encoding,
    }
  }

  #noteActivity(): void {
    this.#session.lastActivityMs = this.#nowMs()
  }

  #finish(end: GrpcExchangeEnd): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#end(end, this)
  }

  #write({ body, bytes, isCompressed }: GrpcMessage): void {
    const stream = this.#stream
    if (!(body instanceof Uint8Array)) {
      stream.write(framePrefix(bytes, isCompressed))
      this.#pipe(body, bytes)
    } else if (bytes <= COPIED_BYTES) {
      stream.end(frame(body, isCompressed))
    } else {
      stream.cork()
      stream.write(framePrefix(bytes, isCompressed))
      stream.end(body)
      stream.uncork()
    }
  }

  /** Streams the body. If it fails or has the wrong length, resets the stream, so that it never looks complete. */
  #pipe(body: Readable, bytes: number): void {
    if (body.destroyed) {
      this.#stream.close(NGHTTP2_CANCEL)
      return
    }
    let sent = 0
    body.on('data', (part: Uint8Array) => {
      sent += part.length
      if (sent > bytes) this.abort('abandoned')
    })
    body.once('end', () => (sent === bytes ? this.#stream.end() : this.abort('abandoned')))
    body.once('error', () => this.abort('abandoned'))
    body.once('close', () => {
      if (!body.readableEnded) this.abort('abandoned')
    })
    body.pipe(this.#stream, { end: false })
  }
}

function onResponse(this: ClientHttp2Stream, headers: IncomingHttpHeaders): void {
  ;(this as ExchangeStream)[exchangeOf].response(headers)
}

function onTrailers(this: ClientHttp2Stream, headers: IncomingHttpHeaders): void {
  const exchange = (this as ExchangeStream)[exchangeOf]
  exchange.lastHeaders(headers)
  if (this.readableEnded) exchange.replyEnded()
}

function onData(this: ClientHttp2Stream, part: Uint8Array): void {
  ;(this as ExchangeStream)[exchangeOf].data(part)
}

function onEnd(this: ClientHttp2Stream): void {
  ;(this as ExchangeStream)[exchangeOf].replyEnded()
}

/** Ignores the error: `close` follows and handles it. */
function onError(): void {}

function onClose(this: ClientHttp2Stream): void {
  ;(this as ExchangeStream)[exchangeOf].closed()
}
