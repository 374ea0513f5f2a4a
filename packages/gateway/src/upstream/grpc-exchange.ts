import { type ClientHttp2Stream, constants, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import type { Readable } from 'node:stream'
import { frame, framePrefix } from '../ingest/grpc-wire.ts'
import type { GrpcSession } from './grpc-sessions.ts'

/** Replies beyond it are not kept (P-15). */
export const MAX_REPLY_BYTES = 4 * 1024 * 1024
/** Up to here, copying the message behind its prefix is cheaper than a second write. */
const COPIED_BYTES = 16 * 1024

const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM } = constants

/** One message on its way out, already protobuf. */
export interface GrpcMessage {
  readonly headers: OutgoingHttpHeaders
  readonly isCompressed: boolean
  readonly body: Uint8Array | Readable
  /** Of the body. */
  readonly bytes: number
}

export interface GrpcReply {
  readonly kind: 'reply'
  readonly httpStatus: number
  /** The header fields that hold `grpc-status`, or would have: trailers, or those of a Trailers-Only reply. */
  readonly trailers: IncomingHttpHeaders
  /** Of the frame: prefix and message. `undefined` when it was longer than `MAX_REPLY_BYTES`. */
  readonly framed: Uint8Array | undefined
  readonly encoding: string | undefined
}

/**
 * - `unprocessed`: upstream says, or its GOAWAY does, that it has not looked at the request
 * - `broken_off`: the stream ended without a status; what became of the request is not known
 * - `late`, `abandoned`: given up by us
 */
export type ExchangeEnd = GrpcReply | { readonly kind: 'unprocessed' | 'broken_off' | 'late' | 'abandoned' }

const noBytes = Buffer.alloc(0)
const exchangeOf = Symbol('exchange')
type ExchangeStream = ClientHttp2Stream & { [exchangeOf]: Exchange }

/** One request and its reply on one stream. `end` is called exactly once, never before the constructor returns. */
export class Exchange {
  readonly deadlineMs: number
  /** Where the list of all exchanges has this one. */
  index = -1
  readonly #session: GrpcSession
  readonly #stream: ExchangeStream
  readonly #nowMs: () => number
  readonly #end: (end: ExchangeEnd, exchange: Exchange) => void
  #isOver = false
  #httpStatus = 0
  #encoding: string | undefined
  #trailers: IncomingHttpHeaders | undefined
  #framed: Uint8Array = noBytes
  #parts: Uint8Array[] | undefined
  #replyBytes = 0

  /** Throws what node:http2 says of headers that cannot be sent, or of a session that has ended. */
  constructor(
    session: GrpcSession,
    message: GrpcMessage,
    deadlineMs: number,
    nowMs: () => number,
    end: (end: ExchangeEnd, exchange: Exchange) => void,
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

  giveUp(kind: 'late' | 'abandoned'): void {
    this.#finish({ kind })
    this.#stream.close(NGHTTP2_CANCEL)
  }

  response(headers: IncomingHttpHeaders): void {
    this.#heard()
    this.#httpStatus = Number(headers[':status'])
    this.#encoding = headers['grpc-encoding'] as string | undefined
    if (headers['grpc-status'] !== undefined || this.#httpStatus !== 200) this.#trailers = headers
  }

  lastHeaders(headers: IncomingHttpHeaders): void {
    this.#heard()
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

  /** Once the reply is whole, a request body that is still on its way is of no interest to anybody. */
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

  #heard(): void {
    this.#session.lastHeardMs = this.#nowMs()
  }

  #finish(end: ExchangeEnd): void {
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

  /** A body that fails, or is not as long as was said, must never look complete to upstream. */
  #pipe(body: Readable, bytes: number): void {
    if (body.destroyed) {
      this.#stream.close(NGHTTP2_CANCEL)
      return
    }
    let sent = 0
    body.on('data', (part: Uint8Array) => {
      sent += part.length
      if (sent > bytes) this.giveUp('abandoned')
    })
    body.once('end', () => (sent === bytes ? this.#stream.end() : this.giveUp('abandoned')))
    body.once('error', () => this.giveUp('abandoned'))
    body.once('close', () => {
      if (!body.readableEnded) this.giveUp('abandoned')
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

/** `close` follows, and knows all there is to know. */
function onError(): void {}

function onClose(this: ClientHttp2Stream): void {
  ;(this as ExchangeStream)[exchangeOf].closed()
}
