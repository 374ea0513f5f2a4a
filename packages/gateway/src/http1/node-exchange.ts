import type { IncomingMessage, ServerResponse } from 'node:http'
import { connectionOf } from '../connections/listener-connection.ts'
import type { HttpExchangeContext } from '../http/http-exchange.ts'
import type { Framing } from '../http/request-validator.ts'
import { receiveBody, resumeBody } from '../node-internals/request-bodies.ts'
import { bytesAsText, Http1Exchange, type Http1Reply } from './http1-exchange.ts'

const http11: Framing = { requiresHost: true, declaresLength: true }
const http10: Framing = { requiresHost: false, declaresLength: true }

/** One request over HTTP/1 that node:http has read. */
export class NodeExchange extends Http1Exchange {
  readonly #request: IncomingMessage
  readonly #response: ServerResponse

  static take(context: HttpExchangeContext, request: IncomingMessage, response: ServerResponse): void {
    // A request after the last answer of its connection cannot be answered, so it must not be forwarded.
    if (connectionOf(request.socket).hasSentClose) return
    const exchange = new NodeExchange(context, request, response)
    receiveBody(request, response, exchange)
    const framing = request.httpVersionMinor === 0 ? http10 : http11
    exchange.begin(request.method ?? '', request.url ?? '', request.rawHeaders, framing)
  }

  private constructor(context: HttpExchangeContext, request: IncomingMessage, response: ServerResponse) {
    super(context, connectionOf(request.socket))
    this.#request = request
    this.#response = response
  }

  protected override get isOutputGone(): boolean {
    return this.#response.destroyed
  }

  protected override writeReply({ status, headers, body, isClosing, isLast }: Http1Reply): void {
    const response = this.#response
    response.writeHead(status, (isClosing ? headers.concat('connection', 'close') : headers) as string[])
    const text = body === undefined ? undefined : bytesAsText(body)
    if (isLast) {
      response.end(text, 'latin1')
      return
    }
    // Not `end`: Node would close a connection that is not kept alive before the rest of the body has been read.
    if (text === undefined) response.flushHeaders()
    else response.write(text, 'latin1')
  }

  protected override endReply(): void {
    this.#response.end()
  }

  protected override writeContinue(): void {
    // An HTTP/1.0 client would mistake `100 Continue` for the reply (RFC 9110, section 10.1.1).
    if (this.#request.httpVersionMinor !== 0) this.#response.writeContinue()
  }

  override resumeBody(): void {
    resumeBody(this.#request)
  }
}
