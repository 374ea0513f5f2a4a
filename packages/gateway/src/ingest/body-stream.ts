import { Readable } from 'node:stream'

/** Where the bytes of a streamed body come from. */
export interface BodySource {
  /** The reader has room again. */
  onReaderReady(): void
  /** Nobody will read any further. */
  onReaderGone(): void
}

/** A body on its way upstream, at the pace of whoever reads it. Ends with an error when it does not come whole. */
export class BodyStream extends Readable {
  readonly #source: BodySource
  readonly #keepsLast: boolean
  #last: Uint8Array | undefined

  /** `keepsLast`: the newest piece waits for the next one or the end, see `add`. */
  constructor(source: BodySource, keepsLast: boolean) {
    super()
    this.#source = source
    this.#keepsLast = keepsLast
    // Its reader has its own way to learn of it; without a listener an error would end the process.
    this.on('error', () => {})
  }

  /**
   * False: wait for `wanted`. A body that has yet to be judged must not be whole before `complete`: by its declared length
   * upstream would know its end, take it and acknowledge it (P-8).
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
    this.#source.onReaderReady()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#source.onReaderGone()
    callback(error)
  }
}

/** A body that did not come whole. */
export class BrokenBody extends Error {
  override readonly name = 'BrokenBody'
}
