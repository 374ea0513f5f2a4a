import { Readable } from 'node:stream'

/** A request body as a stream with backpressure. Fails with an error if the body does not arrive completely. */
export class BodyStream extends Readable {
  readonly #on: { readonly onReaderReady: () => void; readonly onReaderGone: () => void }
  readonly #keepsLast: boolean
  #last: Uint8Array | undefined

  /**
   * `onReaderReady`: the reader accepts more bytes. `onReaderGone`: the stream was destroyed and is no longer read. `keepsLast`: holds
   * back the newest piece until the next one arrives or the body is complete, see `add`.
   */
  constructor(on: { readonly onReaderReady: () => void; readonly onReaderGone: () => void }, keepsLast: boolean) {
    super()
    this.#on = on
    this.#keepsLast = keepsLast
    // The reader detects errors itself, but an error without a listener would end the process.
    this.on('error', () => {})
  }

  /**
   * Adds a piece. Returns false if the caller must wait for `onReaderReady`. With `keepsLast`, the last piece is not
   * sent before `complete`: upstream knows the declared length and would otherwise accept a body before it has been
   * checked (P-8).
   */
  add(piece: Uint8Array): boolean {
    if (!this.#keepsLast) return this.push(piece)
    const former = this.#last
    this.#last = piece
    return former === undefined || this.push(former)
  }

  complete(): void {
    if (this.#last !== undefined) this.push(this.#last)
    this.#last = undefined
    this.push(null)
  }

  override _read(): void {
    this.#on.onReaderReady()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#on.onReaderGone()
    callback(error)
  }
}

/** The error of a stream if the body did not arrive completely. */
export class BrokenBody extends Error {
  override readonly name = 'BrokenBody'
}
