/** The limit on the bytes of all responses of a listener that wait for the windows of their clients. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024

/** Limits the bytes of responses that cannot be sent because their clients grant no window. */
export class UnsentBudget {
  readonly #maxBytes: number
  #heldBytes = 0

  constructor(maxBytes: number = MAX_UNSENT_BYTES) {
    this.#maxBytes = maxBytes
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Counts bytes and returns true, or returns false if that would exceed the limit. */
  hold(bytes: number): boolean {
    if (this.#heldBytes + bytes > this.#maxBytes) return false
    this.#heldBytes += bytes
    return true
  }

  release(bytes: number): void {
    this.#heldBytes -= bytes
  }
}
