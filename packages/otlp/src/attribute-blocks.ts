/** A stretch of the pool. */
export interface Block {
  readonly end: number
  readonly length: number
}

/** What one attribute key was encoded to. */
export interface KeyBlocks {
  readonly name: string
  /** The field `key` of a KeyValue, tag and length included. */
  readonly key: Block
  /** The value that this key stood beside last: a text, an integer, or a list by identity, for values never change. */
  value: unknown
  /** The whole KeyValue with that value, its length in front; made when the value comes a second time. */
  pair: Block | undefined
  /** What was looked up after it the last time. */
  next: KeyBlocks | undefined
}

const INITIAL_BYTES = 4 * 1024
const MAX_BYTES = 128 * 1024
/** Longer ones would push out many short ones. */
export const MAX_BLOCK_BYTES = 256
/** Blocks are copied four bytes at a time, from their end; what is read in front of one must exist. */
const WORD_BYTES = 4

/**
 * Encoded keys, and encoded pairs of a key and the value it had last.
 *
 * Keys come from a small vocabulary, and a key that does not describe one job alone keeps its value for a whole
 * pipeline, often for the next one too; copying takes a quarter of the time of encoding. When the pool is full,
 * everything is forgotten and learnt anew.
 */
export class AttributeBlocks {
  readonly #byKey = new Map<string, KeyBlocks>()
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #view = new DataView(this.#bytes.buffer)
  #used = WORD_BYTES
  #found: KeyBlocks | undefined

  /** Lists of one kind have the same keys in the same order, so the key after the last one is nearly always known. */
  find(key: string): KeyBlocks | undefined {
    const expected = this.#found?.next
    if (expected?.name === key) {
      this.#found = expected
      return expected
    }
    const found = this.#byKey.get(key)
    if (this.#found !== undefined) this.#found.next = found
    this.#found = found
    return found
  }

  /** `encoded` is at most `MAX_BLOCK_BYTES` long, here and below. */
  learnKey(key: string, encoded: Uint8Array): void {
    const block = this.#store(encoded)
    this.#byKey.set(key, { name: key, key: block, value: undefined, pair: undefined, next: undefined })
  }

  learnPair(blocks: KeyBlocks, encoded: Uint8Array): void {
    blocks.pair = this.#store(encoded)
  }

  /** Copies a block so that it ends at `end`, spoiling up to three bytes in front of it; returns where it starts. */
  copyBefore(target: DataView, end: number, block: Block): number {
    const start = end - block.length
    let from = block.end
    for (let at = end; at > start; ) {
      at -= WORD_BYTES
      from -= WORD_BYTES
      target.setUint32(at, this.#view.getUint32(from, true), true)
    }
    return start
  }

  #store(encoded: Uint8Array): Block {
    if (this.#used + encoded.length > this.#bytes.length) this.#makeRoom()
    this.#bytes.set(encoded, this.#used)
    this.#used += encoded.length
    return { end: this.#used, length: encoded.length }
  }

  #makeRoom(): void {
    if (this.#bytes.length === MAX_BYTES) {
      this.#byKey.clear()
      this.#found = undefined
      this.#used = WORD_BYTES
      return
    }
    const grown = Buffer.allocUnsafeSlow(this.#bytes.length * 2)
    this.#bytes.copy(grown)
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }
}
