import { Readable } from 'node:stream'

/** Where the bytes of a streamed body come from. */
export interface BodySource {
  /** The reader has room again. */
  wanted(): void
  /** Nobody will read any further. */
  unwanted(): void
}

/** A body on its way upstream, at the pace of whoever reads it. Ends with an error when it does not come whole. */
export class BodyStream extends Readable {
  readonly #source: BodySource

  constructor(source: BodySource) {
    super()
    this.#source = source
    // Its reader has its own way to learn of it; without a listener an error would end the process.
    this.on('error', () => {})
  }

  override _read(): void {
    this.#source.wanted()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#source.unwanted()
    callback(error)
  }
}

/** A body that did not come whole. */
export class BrokenBody extends Error {
  override readonly name = 'BrokenBody'
}
