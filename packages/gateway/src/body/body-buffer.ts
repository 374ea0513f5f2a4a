const SMALLEST_ROOM = 16 * 1024
const empty = new Uint8Array(0)

/**
 * Collects the pieces of a body. A body of one piece is not copied. Several pieces are copied into one buffer, which grows with
 * them, so that a body takes at most twice the size of what has arrived, whatever length was declared. The first piece of a body that
 * is not complete is copied at once, because it may be part of a larger allocation, which a slow client must not hold.
 */
export class BodyBuffer {
  #bytes: Uint8Array = empty
  /** Whether `#bytes` is the first piece itself, which must not be modified. */
  #isBorrowed = true
  #length = 0
  readonly #expectedBytes: number | undefined

  /** `expectedBytes`: the declared length of the body. */
  constructor(expectedBytes: number | undefined) {
    this.#expectedBytes = expectedBytes
  }

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length
    if (this.#length === 0 && (this.#expectedBytes === undefined || length >= this.#expectedBytes)) {
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
    const room = Math.max(
      neededBytes,
      Math.min(this.#expectedBytes ?? Infinity, Math.max(SMALLEST_ROOM, 2 * this.#length)),
    )
    const larger = Buffer.allocUnsafeSlow(room)
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
    this.#isBorrowed = false
  }
}
