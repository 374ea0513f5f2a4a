import { IncomingMessage, type ServerResponse } from 'node:http'
import type { BodyReceiver } from '../contract/body-receiver.ts'
import { avoided } from './avoided.ts'

const noHeaders = {}

/**
 * A request that passes its body directly to its receiver.
 *
 * A normal IncomingMessage is a Readable, which queues the body and delivers it in a later turn. For a request of one
 * packet that doubles the cost. `headers` is overridden because Node would build it to look for `Expect`; the gateway
 * reads `rawHeaders` instead. Node does not document that its parser calls `push` and `_dump`, and reads `headers` and `readableEnded`.
 */
export class DirectRequest extends IncomingMessage {
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

Object.defineProperties(DirectRequest.prototype, {
  headers: { get: () => noHeaders },
  readableEnded: {
    get(this: DirectRequest) {
      return this.complete
    },
  },
})

/** Returns the class of the requests of a server, for `createServer`: the fall-back is the class of Node. */
export const requestClass = (): typeof IncomingMessage => (avoided['request-bodies'] ? IncomingMessage : DirectRequest)

/** Returns whether bodies arrive in a later turn than their requests. */
export const deliversLate = (): boolean => avoided['request-bodies']

/** Passes the body of a request to its receiver as it arrives. */
export function receiveBody(request: IncomingMessage, response: ServerResponse, receiver: BodyReceiver): void {
  if (request instanceof DirectRequest) {
    request.receiver = receiver
    return
  }
  request.on('data', (piece: Buffer) => {
    if (!receiver.onBody(piece)) request.pause()
  })
  request.on('end', () => receiver.onBodyEnd())
  request.on('error', () => {})
  response.on('close', () => {
    if (!response.writableFinished) receiver.onAborted()
  })
}

/** Continues to read the body after its receiver was full. */
export function resumeBody(request: IncomingMessage): void {
  if (request instanceof DirectRequest) request.resumeBody()
  else request.resume()
}
