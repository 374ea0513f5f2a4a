/** The most ids that are remembered. */
const MAX_REMEMBERED = 1_000

/** The streams that the gateway has reset before the client had ended them. Frames for them are ignored. */
export class ResetStreams {
  readonly #ids = new Set<number>()

  has(streamId: number): boolean {
    return this.#ids.has(streamId)
  }

  /** The oldest one is forgotten if there are too many. */
  add(streamId: number): void {
    this.#ids.add(streamId)
    if (this.#ids.size <= MAX_REMEMBERED) return
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest)
      break
    }
  }

  /** The client sends nothing more on the stream. */
  delete(streamId: number): void {
    this.#ids.delete(streamId)
  }
}
