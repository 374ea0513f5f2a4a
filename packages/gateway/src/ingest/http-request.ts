import { IncomingMessage } from 'node:http'

/** Takes the body of one request as the parser finds it. None of these may throw: nobody is there to catch it. */
export interface BodySink {
  /** False: stop reading the connection until `resumeBody`. More may still come. */
  onBody(piece: Uint8Array): boolean
  onBodyEnd(): void
  /** The connection is gone, and this request had not been answered. */
  onAborted(): void
}

const noHeaders = {}

/**
 * A request whose body goes straight to its sink.
 *
 * The parser pushes a body into a Readable, which queues it and hands it on in a later turn; for a request that fits one
 * packet that costs as much as all the rest. Node also puts together `headers` to look for `Expect`; that and all other
 * headers are read from `rawHeaders`.
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

  /** Called by Node on whatever was not read as a Readable, to throw it away. Here nothing waits. */
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
