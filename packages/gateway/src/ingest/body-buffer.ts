const SMALLEST_ROOM = 16 * 1024
const empty = new Uint8Array(0)

/**
 * Puts a body together. One that comes in one piece is not copied; of others the pieces are, so that a body cut into
 * single bytes holds no more memory than twice its size.
 */
export class BodyBuffer {
  #bytes: Uint8Array = empty
  /** The first piece lies here as it came, and is not ours to write to. */
  #isBorrowed = true
  #length = 0
  readonly #expectedBytes: number | undefined

  /** `expectedBytes`: what the client has declared. */
  constructor(expectedBytes: number | undefined) {
    this.#expectedBytes = expectedBytes
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (this.#length === 0) {
      this.#bytes = piece
    } else {
      if (this.#isBorrowed || length > this.#bytes.length) this.#grow(length)
      this.#bytes.set(piece, this.#length)
    }
    this.#length = length
  }

  bytes(): Uint8Array {
    return this.#bytes.length === this.#length ? this.#bytes : this.#bytes.subarray(0, this.#length)
  }

  #grow(neededBytes: number): void {
    const room = Math.max(neededBytes, this.#expectedBytes ?? Math.max(SMALLEST_ROOM, 2 * this.#length))
    const larger = Buffer.allocUnsafeSlow(room)
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
    this.#isBorrowed = false
  }
}
