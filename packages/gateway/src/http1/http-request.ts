import { IncomingMessage } from 'node:http'
import type { BodySink } from '../http/http-exchange.ts'

const noHeaders = {}

/**
 * A request that passes its body directly to its sink.
 *
 * A normal IncomingMessage is a Readable, which queues the body and delivers it in a later turn. For a request of one
 * packet that doubles the cost. `headers` is overridden because Node would build it to look for `Expect`; the gateway
 * reads `rawHeaders` instead.
 */
export class IngestRequest extends IncomingMessage {
  sink: BodySink | undefined

  override push(piece: Uint8Array | null): boolean {
    const { sink } = this
    if (sink === undefined) return true
    if (piece !== null) return sink.onBody(piece)
    sink.onBodyEnd()
    return false
  }

  resumeBody(): void {
    this._read(0)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.sink?.onAborted()
    super._destroy(error, callback)
  }

  /** Node calls this to discard an unread body. Does nothing, because nothing is queued here. */
  _dump(): void {}
}

Object.defineProperties(IngestRequest.prototype, {
  headers: { get: () => noHeaders },
  readableEnded: {
    get(this: IngestRequest) {
      return this.complete
    },
  },
})
