import { constants, type OutgoingHttpHeaders } from 'node:http2'
import { DISCARD_MS, UNSENT_MS } from '../connections/discard-limits.ts'
import type { Peer } from '../connections/listener-connection.ts'
import type { FlatHeaders } from '../contract/export-call.ts'
import { HttpExchange, type HttpExchangeContext } from '../http/http-exchange.ts'
import type { Framing } from '../http/request-validator.ts'
import type { Http2Stream } from './http2-stream.ts'
import type { Http2Head } from './request-head.ts'

const withBody: Framing = { requiresHost: false, declaresLength: false }
const withoutBody: Framing = { requiresHost: false, declaresLength: true }

/** One request over HTTP/2 that is not gRPC. */
export class Http2Exchange extends HttpExchange {
  readonly #stream: Http2Stream
  readonly #isHead: boolean

  static take(
    context: HttpExchangeContext,
    stream: Http2Stream,
    { method, path, rawHeaders }: Http2Head,
    hasBody: boolean,
    peer: Peer,
    idleBodyTimeoutMs: number,
  ): void {
    const exchange = new Http2Exchange(context, stream, peer, method === 'HEAD')
    stream.on('data', (piece: Uint8Array) => {
      if (!exchange.onBody(piece)) stream.pause()
    })
    stream.on('end', () => {
      // Node also emits `end` for a stream that was reset, before its body is complete; `close` follows.
      if (stream.aborted || stream.destroyed) return
      stream.setTimeout(0)
      exchange.onBodyEnd()
    })
    stream.on('error', () => {})
    stream.on('close', () => exchange.onAborted())
    stream.setTimeout(idleBodyTimeoutMs, () => {
      // While upstream does not read, the gateway does not read from the client, so the silence is not the client's.
      if (!exchange.isPaused) exchange.onStalled()
    })
    exchange.begin(method, path, rawHeaders, hasBody ? withBody : withoutBody)
  }

  private constructor(context: HttpExchangeContext, stream: Http2Stream, peer: Peer, isHead: boolean) {
    super(context, peer)
    this.#stream = stream
    this.#isHead = isHead
  }

  protected override write(status: number, headers: FlatHeaders, body: Uint8Array | undefined): void {
    const stream = this.#stream
    if (stream.destroyed || stream.closed) return
    const fields: OutgoingHttpHeaders = { ':status': status }
    for (let at = 0; at < headers.length; at += 2) fields[headers[at]!] = headers[at + 1]!
    // A reply to HEAD has no body (RFC 9110, section 9.3.2); clients treat DATA as a protocol error.
    if (body === undefined || this.#isHead) {
      stream.respond(fields, { endStream: true })
    } else {
      stream.respond(fields)
      stream.end(body)
    }
    if (!stream.closed) stream.setTimeout(this.isBodyOver ? UNSENT_MS : DISCARD_MS, () => this.cut())
  }

  protected override finish(): void {
    this.#stream.setTimeout(UNSENT_MS)
  }

  protected override writeContinue(): void {
    this.#stream.additionalHeaders({ ':status': 100 })
  }

  override resumeBody(): void {
    this.#stream.resume()
  }

  protected override cut(): void {
    this.#stream.close(constants.NGHTTP2_NO_ERROR)
  }
}
