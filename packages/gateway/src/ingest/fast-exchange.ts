import type { FastConnection } from './fast-connection.ts'
import type { FastHead } from './fast-head.ts'
import type { HttpExchangeContext } from './http-exchange.ts'
import { Http1Exchange, type Http1Reply } from './http1-exchange.ts'
import type { Connection } from './listener-connection.ts'
import type { ReplyText } from './reply-text.ts'
import type { Framing } from './request-validator.ts'

const framing: Framing = { requiresHost: true, declaresLength: true }

export interface FastExchangeContext extends HttpExchangeContext {
  readonly replyText: ReplyText
}

/** One request over HTTP/1.1 that the gateway has read itself. */
export class FastExchange extends Http1Exchange {
  readonly #replyText: ReplyText
  readonly #output: FastConnection
  /** Whether the connection ends with the reply. */
  #isEnding: boolean

  static take(
    context: FastExchangeContext,
    head: FastHead,
    output: FastConnection,
    connection: Connection,
  ): FastExchange {
    const exchange = new FastExchange(context, head, output, connection)
    exchange.begin('POST', head.path, head.rawHeaders, framing)
    return exchange
  }

  private constructor(context: FastExchangeContext, head: FastHead, output: FastConnection, connection: Connection) {
    super(context, connection)
    this.#replyText = context.replyText
    this.#output = output
    this.#isEnding = !head.keepsAlive
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

  /** Does nothing: a request with `Expect` is read by node:http. */
  protected override writeContinue(): void {}

  override resumeBody(): void {
    this.#output.resumeBody()
  }
}
