const lineFeed = 0x0a

export interface Line {
  /** The line number, counted from 1. */
  readonly number: number
  /** The bytes without the line feed; `undefined` if the line is too long. */
  readonly bytes: Buffer | undefined
}

/** Reads the lines of a byte stream and holds at most one line in memory. */
export class LineReader {
  readonly #parts: AsyncIterator<Uint8Array>
  readonly #maxBytes: number
  /** The bytes that were read and not returned yet. */
  #held: Buffer = Buffer.alloc(0)
  #number = 0

  constructor(source: AsyncIterable<Uint8Array>, maxBytes: number) {
    this.#parts = source[Symbol.asyncIterator]()
    this.#maxBytes = maxBytes
  }

  /** Returns the next line; `undefined` at the end. Call `skipLine` to read the rest of a line that is too long. */
  async next(): Promise<Line | undefined> {
    const pieces: Buffer[] = []
    let bytes = 0
    for (;;) {
      const end = this.#held.indexOf(lineFeed)
      const piece = end < 0 ? this.#held : this.#held.subarray(0, end)
      pieces.push(piece)
      bytes += piece.length
      if (bytes > this.#maxBytes) return { number: ++this.#number, bytes: undefined }
      this.#held = this.#held.subarray(end < 0 ? piece.length : end + 1)
      if (end >= 0 || !(await this.#fill())) {
        const atEnd = end < 0
        return atEnd && bytes === 0 ? undefined : { number: ++this.#number, bytes: Buffer.concat(pieces) }
      }
    }
  }

  async skipLine(): Promise<void> {
    for (;;) {
      const end = this.#held.indexOf(lineFeed)
      this.#held = this.#held.subarray(end < 0 ? this.#held.length : end + 1)
      if (end >= 0 || !(await this.#fill())) return
    }
  }

  /** Returns all remaining bytes; `undefined` if they are more than `maxBytes`. */
  async rest(maxBytes: number): Promise<Buffer | undefined> {
    const pieces: Buffer[] = []
    let bytes = 0
    do {
      pieces.push(this.#held)
      bytes += this.#held.length
      if (bytes > maxBytes) return undefined
      this.#held = Buffer.alloc(0)
    } while (await this.#fill())
    return Buffer.concat(pieces)
  }

  /** Closes the source, which need not be read to its end. */
  async close(): Promise<void> {
    await this.#parts.return?.()
  }

  async #fill(): Promise<boolean> {
    const { done, value } = await this.#parts.next()
    if (done) return false
    this.#held = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    return true
  }
}
