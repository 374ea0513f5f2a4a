import { DISCARD_MS } from '../connections/discard-limits.ts'
import type { Connection } from '../connections/listener-connection.ts'
import type { FlatHeaders } from '../contract/export-call.ts'
import { refusalTable } from '../contract/refusals.ts'
import { HttpExchange, type HttpExchangeContext } from '../http/http-exchange.ts'

/** A reply, and what it means for the exchange and its connection. */
export interface Http1Reply {
  readonly status: number
  readonly headers: FlatHeaders
  readonly body: Uint8Array | undefined
  /** Whether the connection ends with this reply, which then has `Connection: close`. */
  readonly isClosing: boolean
  /** Whether the exchange ends with this reply. Otherwise `endReply` follows when the rest of the body has arrived. */
  readonly isLast: boolean
}

/**
 * One request over HTTP/1, with its effects on the connection. One subclass writes replies through node:http, the other one
 * directly to the socket.
 */
export abstract class Http1Exchange extends HttpExchange {
  protected readonly connection: Connection
  /** Whether this request has set the time at which the connection is cut. */
  #hasSetCut = false

  protected constructor(context: HttpExchangeContext, connection: Connection) {
    super(context, connection)
    this.connection = connection
    connection.requestBegan()
    connection.bodyReceiver = this
  }

  /** Whether replies can no longer be written. */
  protected abstract get isOutputGone(): boolean
  protected abstract writeReply(reply: Http1Reply): void
  /** Ends a reply that was written with `isLast: false`. */
  protected abstract endReply(): void

  override onBodyEnd(): void {
    this.#stopReceiving()
    super.onBodyEnd()
  }

  protected override write(
    status: number,
    headers: FlatHeaders,
    body: Uint8Array | undefined,
    isLastRequest: boolean,
  ): void {
    if (this.isOutputGone) return
    const { connection } = this
    if (status === refusalTable.unauthenticated.http) connection.recordRejectedCredential()
    const { isRetiring, isReserved } = connection
    const isClosing = isLastRequest || (isRetiring && (this.isBodyOver || isReserved))
    if (isClosing) connection.hasSentClose = true
    const isLast = this.isBodyOver
    if (isLast) this.#leaveConnection()
    this.writeReply({ status, headers, body, isClosing, isLast })
    if (isLast) return
    this.#hasSetCut = true
    connection.cutAfter(DISCARD_MS)
  }

  protected override finish(): void {
    this.#leaveConnection()
    this.endReply()
  }

  protected override cut(): void {
    this.connection.cut()
  }

  /** Ends the request on its connection. Must precede the last write, during which the next request may begin. */
  #leaveConnection(): void {
    this.#stopReceiving()
    this.connection.requestEnded(this.#hasSetCut)
  }

  /** Ends the receiving of this body only: with pipelining, the next one may be arriving, and its time limits must remain. */
  #stopReceiving(): void {
    if (this.connection.bodyReceiver === this) this.connection.bodyReceiver = undefined
  }
}

/**
 * Returns bytes as text in which each character represents one byte (latin1). Node writes a head and a text in one piece, but a
 * head and bytes in two, at twice the cost.
 */
export function bytesAsText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1')
}
