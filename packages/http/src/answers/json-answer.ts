import { setImmediate as nextTurn } from 'node:timers/promises'
import { jsonParts } from '@penstock/json'

/** The length from which text is encoded, so that the rest of it can be released. */
const CHUNK_LENGTH = 64 * 1024
/** The bytes that one turn of the event loop writes. */
const BYTES_PER_TURN = 256 * 1024

/** Builds the JSON of an answer up to a number of bytes, in several turns of the event loop. */
export class JsonAnswer {
  readonly #maxBytes: number
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #bytesThisTurn = 0
  #text = ''

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Appends a value, and returns whether it fits. After one that does not fit, the answer is of no use. */
  async value(value: unknown): Promise<boolean> {
    for (const part of jsonParts(value)) {
      this.#text += part
      if (this.#text.length < CHUNK_LENGTH) continue
      this.#encode()
      if (this.#bytes > this.#maxBytes) return false
      if (this.#bytesThisTurn >= BYTES_PER_TURN) {
        await nextTurn()
        this.#bytesThisTurn = 0
      }
    }
    return this.#hasRoomFor(0)
  }

  /**
   * Appends a list of values, and returns how many of them fit. If it is not all of them, the answer is of no use.
   *
   * @param toValue returns the value for an item; called only for items that may still fit
   */
  async list<Item>(items: readonly Item[], toValue: (item: Item) => unknown): Promise<number> {
    this.#text += '['
    for (const [index, item] of items.entries()) {
      if (index > 0) this.#text += ','
      // The closing bracket has to fit as well.
      if (!(await this.value(toValue(item))) || !this.#hasRoomFor(1)) return index
    }
    this.#text += ']'
    return items.length
  }

  /** Returns the text of a short answer, or the encoded parts of a long one. */
  end(): string | readonly Buffer[] {
    if (this.#chunks.length === 0) return this.#text
    this.#encode()
    return this.#chunks
  }

  #hasRoomFor(bytes: number): boolean {
    const left = this.#maxBytes - this.#bytes - bytes
    // A character has at most three bytes, so most texts need not be measured.
    return this.#text.length * 3 <= left || Buffer.byteLength(this.#text) <= left
  }

  #encode(): void {
    const chunk = Buffer.from(this.#text)
    this.#text = ''
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    this.#bytesThisTurn += chunk.length
  }
}
