import type { ServerResponse } from 'node:http'
import type { FlatHeaders } from '../contract/export-call.ts'
import { refusalTable } from '../contract/refusals.ts'
import { DISCARD_MS } from './discard-limits.ts'
import { HttpExchange, type HttpExchangeContext } from './http-exchange.ts'
import type { IngestRequest } from './http-request.ts'
import { type BodyReceiver, type Connection, connectionOf } from './listener-connection.ts'
import type { Framing } from './request-validator.ts'

const http11: Framing = { requiresHost: true, declaresLength: true }
const http10: Framing = { requiresHost: false, declaresLength: true }

/** One request over HTTP/1. */
export class Http1Exchange extends HttpExchange implements BodyReceiver {
  readonly #request: IngestRequest
  readonly #response: ServerResponse
  readonly #connection: Connection

  static take(context: HttpExchangeContext, request: IngestRequest, response: ServerResponse): void {
    const exchange = new Http1Exchange(context, request, response, connectionOf(request.socket))
    request.sink = exchange
    exchange.#connection.requestBegan()
    exchange.#connection.bodyReceiver = exchange
    const framing = request.httpVersionMinor === 0 ? http10 : http11
    exchange.begin(request.method ?? '', request.url ?? '', request.rawHeaders, framing)
  }

  private constructor(
    context: HttpExchangeContext,
    request: IngestRequest,
    response: ServerResponse,
    connection: Connection,
  ) {
    super(context, connection)
    this.#request = request
    this.#response = response
    this.#connection = connection
  }

  override onBodyEnd(): void {
    this.#connection.bodyReceiver = undefined
    super.onBodyEnd()
  }

  protected override write(
    status: number,
    headers: FlatHeaders,
    body: Uint8Array | undefined,
    isClosing: boolean,
  ): void {
    const response = this.#response
    if (response.destroyed) return
    if (status === refusalTable.unauthenticated.http) this.#connection.recordRejectedCredential()
    const { isRetiring, isReserved } = this.#connection
    const closesConnection = isClosing || (isRetiring && (this.isBodyOver || isReserved))
    if (closesConnection) this.#connection.hasSentClose = true
    response.writeHead(status, (closesConnection ? headers.concat('connection', 'close') : headers) as string[])
    const text = body === undefined ? undefined : bytesAsText(body)
    if (this.isBodyOver) {
      response.end(text, 'latin1')
      this.#connection.bodyReceiver = undefined
      this.#connection.requestEnded()
      return
    }
    // The reply is sent but not ended yet: Node would otherwise close a connection that is not kept alive.
    if (text === undefined) response.flushHeaders()
    else response.write(text, 'latin1')
    this.#connection.cutAfter(DISCARD_MS)
  }

  protected override finish(): void {
    this.#response.end()
    this.#connection.requestEnded()
  }

  protected override writeContinue(): void {
    // An HTTP/1.0 client would take it for the reply (RFC 9110, section 10.1.1).
    if (this.#request.httpVersionMinor !== 0) this.#response.writeContinue()
  }

  override resumeBody(): void {
    this.#request.resumeBody()
  }

  protected override cut(): void {
    this.#connection.cut()
  }
}

/**
 * Converts a body to latin1 text. Node writes head and text in one piece, but head and bytes in two, at twice the cost.
 */
function bytesAsText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1')
}
