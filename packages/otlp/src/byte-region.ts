const INITIAL_BYTES = 32 * 1024

/** A buffer filled from its start, growing as needed. */
export class ByteRegion {
  #buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  length = 0

  /** Claims the next `bytes`: where they start in the buffer that `buffer` is from now on. */
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

  /** What has been filled; valid until the next claim. */
  view(): Uint8Array {
    return new Uint8Array(this.#buffer.buffer, 0, this.length)
  }
}
