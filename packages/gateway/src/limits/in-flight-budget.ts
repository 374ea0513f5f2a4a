/** The share of the whole budget that one token may hold. */
const TOKEN_SHARE = 0.25

/**
 * Limits the bytes of bodies in flight, in total and per token.
 *
 * A token that holds nothing may reserve more than its share at once; otherwise a body larger than the share could
 * never pass. Requests without a token count only towards the total.
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

  /**
   * Reserves `bytes` and returns true, or reserves nothing and returns false. May be called again for a body of unknown
   * length; release the sum of all reservations at the end.
   */
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

  /**
   * Releases bytes that `reserve` has granted to the same token. Throws `RangeError` if that many were not reserved.
   */
  release(tokenId: string | undefined, bytes: number): void {
    const held = tokenId === undefined ? this.#heldBytes : (this.#heldByToken.get(tokenId) ?? 0)
    if (bytes > held) throw new RangeError(`cannot release ${bytes} bytes: only ${held} are reserved`)
    this.#heldBytes -= bytes
    if (tokenId === undefined) return
    if (bytes === held) this.#heldByToken.delete(tokenId)
    else this.#heldByToken.set(tokenId, held - bytes)
  }
}
