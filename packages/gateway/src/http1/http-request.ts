import { IncomingMessage } from 'node:http'
import type { BodyReceiver } from '../body/body-receiver.ts'

const noHeaders = {}

/**
 * A request that passes its body directly to its receiver.
 *
 * A normal IncomingMessage is a Readable, which queues the body and delivers it in a later turn. For a request of one
 * packet that doubles the cost. `headers` is overridden because Node would build it to look for `Expect`; the gateway
 * reads `rawHeaders` instead.
 */
export class IngestRequest extends IncomingMessage {
  receiver: BodyReceiver | undefined

  override push(piece: Uint8Array | null): boolean {
    const { receiver } = this
    if (receiver === undefined) return true
    if (piece !== null) return receiver.onBody(piece)
    receiver.onBodyEnd()
    return false
  }

  resumeBody(): void {
    this._read(0)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.receiver?.onAborted()
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
