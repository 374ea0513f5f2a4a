import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { HttpReply } from './http-answer.ts'

/** The highest number of bytes read of a reply (P-15). */
const MAX_REPLY_BYTES = 4 * 1024 * 1024
const NOTHING = new Uint8Array(0)

/** How one attempt at one address ended. */
export type AttemptEnd =
  | { readonly kind: 'reply'; readonly reply: HttpReply }
  /** There was no usable reply. `sent`: bytes may have reached upstream. */
  | { readonly kind: 'failed'; readonly sent: boolean; readonly error: Error }

const REPLY_TOO_LONG = new Error('reply longer than the gateway reads')

/**
 * The undici handler of one request on one connection.
 *
 * Reports `sent` as soon as a connection has taken the request, because upstream may have received bytes from then on.
 */
export class HttpAttempt implements Dispatcher.DispatchHandler {
  readonly #onEnd: (end: AttemptEnd) => void
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  #status = 0
  #headers: IncomingHttpHeaders = {}
  #bytes = 0
  #first: Uint8Array = NOTHING
  #more: Uint8Array[] | undefined

  constructor(onEnd: (end: AttemptEnd) => void) {
    this.#onEnd = onEnd
  }

  /** Ends the attempt immediately and closes the connection. */
  interrupt(error: Error): void {
    if (this.#isOver) return
    this.#fail(error)
    this.#controller?.abort(error)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#isOver) controller.abort(new Error('aborted before it began'))
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Interim (1xx) replies are ignored (P-14).
    if (status < 200) return
    this.#status = status
    this.#headers = headers
  }

  onResponseData(controller: Dispatcher.DispatchController, part: Uint8Array): void {
    if (this.#isOver) return
    this.#bytes += part.length
    if (this.#bytes > MAX_REPLY_BYTES) {
      this.#end({ kind: 'reply', reply: this.#reply('too_long') })
      controller.abort(REPLY_TOO_LONG)
    } else if (this.#first.length === 0) {
      this.#first = part
    } else {
      this.#more ??= []
      this.#more.push(part)
    }
  }

  onResponseEnd(): void {
    if (!this.#isOver) this.#end({ kind: 'reply', reply: this.#reply('whole') })
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (!this.#isOver) this.#fail(error)
  }

  /**
   * Ends the attempt with an error. A refusal is valid once its status line has arrived; a success must be complete.
   */
  #fail(error: Error): void {
    if (this.#status >= 300) this.#end({ kind: 'reply', reply: this.#reply('broken') })
    else this.#end({ kind: 'failed', sent: this.#controller !== undefined, error })
  }

  #end(end: AttemptEnd): void {
    this.#isOver = true
    this.#first = NOTHING
    this.#more = undefined
    this.#onEnd(end)
  }

  #reply(extent: HttpReply['extent']): HttpReply {
    const headers = this.#headers
    return {
      status: this.#status,
      contentType: headers['content-type'] ?? '',
      contentEncoding: headers['content-encoding'] ?? '',
      retryAfter: headers['retry-after'] ?? '',
      body: this.#more === undefined ? this.#first : Buffer.concat([this.#first, ...this.#more]),
      extent,
    }
  }
}
