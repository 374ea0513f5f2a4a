/** Of the whole budget, what one token may hold. */
const TOKEN_SHARE = 0.25

/**
 * Bytes of bodies under way, all together and per token.
 *
 * A token that holds nothing may take more than its share in one piece, or a body larger than the share could never
 * pass. Whoever shows no token counts into the whole only.
 */
export class InFlightBudget {
  readonly #totalBytes: number
  readonly #tokenBytes: number
  readonly #heldByToken = new Map<string, number>()
  #heldBytes = 0

  constructor(totalBytes: number) {
    this.#totalBytes = totalBytes
    this.#tokenBytes = totalBytes * TOKEN_SHARE
  }

  get inFlightBytes(): number {
    return this.#heldBytes
  }

  /** All of `bytes`, or nothing and false. May be called again for a body that grows; all of it is released together. */
  reserve(tokenId: string | undefined, bytes: number): boolean {
    if (bytes === 0) return true
    if (this.#heldBytes + bytes > this.#totalBytes) return false
    if (tokenId !== undefined) {
      const held = this.#heldByToken.get(tokenId) ?? 0
      if (held > 0 && held + bytes > this.#tokenBytes) return false
      this.#heldByToken.set(tokenId, held + bytes)
    }
    this.#heldBytes += bytes
    return true
  }

  /** What `reserve` has given to the same token; giving back more is a bug and throws. */
  release(tokenId: string | undefined, bytes: number): void {
    const held = tokenId === undefined ? this.#heldBytes : (this.#heldByToken.get(tokenId) ?? 0)
    if (bytes > held) throw new RangeError(`${bytes} bytes given back where ${held} are held`)
    this.#heldBytes -= bytes
    if (tokenId === undefined) return
    if (bytes === held) this.#heldByToken.delete(tokenId)
    else this.#heldByToken.set(tokenId, held - bytes)
  }
}
