import type { Connection } from '../connections/listener-connection.ts'
import type { RequestHead } from '../contract/request-head.ts'
import type { HttpExchangeContext } from '../http/http-exchange.ts'
import type { Framing } from '../http/request-validator.ts'
import type { FastConnection, FastRequests } from './fast-connection.ts'
import type { FastHead } from './fast-head.ts'
import { Http1Exchange, type Http1Reply } from './http1-exchange.ts'
import type { ReplyText } from './reply-text.ts'

const framing: Framing = { requiresHost: true, declaresLength: true }

/** The state that all requests of a front share, with what the fast path needs. */
export interface FastExchangeContext extends HttpExchangeContext {
  readonly replyText: ReplyText
}

/**
 * Serves the requests of one connection that the gateway reads itself. The interpretation of the last headers is kept, because
 * most requests repeat them.
 */
export class FastExchanges implements FastRequests {
  readonly #context: FastExchangeContext
  readonly #connection: Connection
  #rawHeaders: readonly string[] | undefined
  #head: RequestHead | undefined

  constructor(context: FastExchangeContext, connection: Connection) {
    this.#context = context
    this.#connection = connection
  }

  servesPath(path: string): boolean {
    return this.#context.paths.acceptsTelemetry(path)
  }

  begin({ path, rawHeaders, bodyBytes, keepsAlive }: FastHead, output: FastConnection): FastExchange {
    if (this.#head === undefined || rawHeaders !== this.#rawHeaders) {
      const read = this.#context.heads.read(rawHeaders, undefined)
      this.#head = { ...read, credential: this.#connection.repeated(read.credential) }
      this.#rawHeaders = rawHeaders
    }
    const head = { ...this.#head, declaredBytes: bodyBytes }
    return FastExchange.take(this.#context, { path, rawHeaders, head, keepsAlive }, output, this.#connection)
  }
}

interface ReadRequest {
  readonly path: string
  readonly rawHeaders: readonly string[]
  readonly head: RequestHead
  readonly keepsAlive: boolean
}

/** One request over HTTP/1.1 that the gateway has read without node:http. */
export class FastExchange extends Http1Exchange {
  readonly #replyText: ReplyText
  readonly #output: FastConnection
  /** Whether the connection ends with the reply. */
  #isEnding: boolean

  static take(
    context: FastExchangeContext,
    { path, rawHeaders, head, keepsAlive }: ReadRequest,
    output: FastConnection,
    connection: Connection,
  ): FastExchange {
    const exchange = new FastExchange(context, keepsAlive, output, connection)
    exchange.beginRead('POST', context.paths.find(path), head, rawHeaders, framing)
    return exchange
  }

  private constructor(
    context: FastExchangeContext,
    keepsAlive: boolean,
    output: FastConnection,
    connection: Connection,
  ) {
    super(context, connection)
    this.#replyText = context.replyText
    this.#output = output
    this.#isEnding = !keepsAlive
  }

  protected override get isOutputGone(): boolean {
    return this.#output.isGone
  }

  protected override writeReply({ status, headers, body, isClosing, isLast }: Http1Reply): void {
    if (isClosing) this.#isEnding = true
    this.#output.write(this.#replyText.of(status, headers, body, this.#isEnding))
    if (isLast) this.endReply()
  }

  protected override endReply(): void {
    this.#output.requestEnded(this.#isEnding)
  }

  /** Does nothing, because requests with `Expect` are always read by node:http. */
  protected override writeContinue(): void {}

  override resumeBody(): void {
    this.#output.resumeBody()
  }
}
