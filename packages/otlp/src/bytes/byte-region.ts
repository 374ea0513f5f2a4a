const INITIAL_BYTES = 32 * 1024

/** A buffer that is filled from its start and grows as needed. */
export class ByteRegion {
  #buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  length = 0

  /** Reserves the next `bytes` and returns their offset in `buffer`, which may be another buffer than before. */
  claim(bytes: number): number {
    const at = this.length
    const needed = at + bytes
    if (needed > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2))
      this.#buffer.copy(grown, 0, 0, at)
      this.#buffer = grown
    }
    this.length = needed
    return at
  }

  get buffer(): Buffer {
    return this.#buffer
  }

  get capacity(): number {
    return this.#buffer.length
  }

  append(bytes: Uint8Array): void {
    const at = this.claim(bytes.length)
    this.#buffer.set(bytes, at)
  }

  /** Returns the filled bytes, which are valid until the next claim. */
  view(): Uint8Array {
    return new Uint8Array(this.#buffer.buffer, 0, this.length)
  }
}
