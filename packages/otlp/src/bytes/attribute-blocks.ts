/** A range of bytes in the pool. */
export interface Block {
  readonly end: number
  readonly length: number
}

/** The encoded form of one attribute key. */
export interface KeyBlocks {
  readonly name: string
  /** The encoded start of a KeyValue: in protobuf the field `key` with tag and length, in JSON everything before the value. */
  readonly key: Block
  /** The last value of this key: a text, an integer, or a list, which is compared by identity because values never change. */
  value: unknown
  /**
   * The whole KeyValue with the last value, in protobuf preceded by its length. It is stored when that value occurs a second
   * time.
   */
  pair: Block | undefined
  /** The key that was looked up after this one the last time. */
  next: KeyBlocks | undefined
}

const INITIAL_BYTES = 4 * 1024
const MAX_BYTES = 128 * 1024
/** The length of the longest stored block. A longer one would evict many short ones. */
export const MAX_BLOCK_BYTES = 256
/** The size of a copied word. Blocks are copied from their end, so the bytes before a block must exist. */
const WORD_BYTES = 4

/**
 * A cache of encoded keys, and of encoded pairs of a key and its last value.
 *
 * There are few different keys, and most values are the same for all jobs of a pipeline, often also for the next
 * pipeline. Copying takes a quarter of the time of encoding. When the pool is full, it is cleared.
 */
export class AttributeBlocks {
  readonly #byKey = new Map<string, KeyBlocks>()
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #view = new DataView(this.#bytes.buffer)
  #used = WORD_BYTES
  #found: KeyBlocks | undefined

  /** Returns the entry of a key. Lists of one kind have the same keys in the same order, so the next key is usually predicted. */
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

  /** Stores a key. `encoded` is at most `MAX_BLOCK_BYTES` long, in this method and in the next ones. */
  storeKey(key: string, encoded: Uint8Array): void {
    const block = this.#store(encoded)
    this.#byKey.set(key, { name: key, key: block, value: undefined, pair: undefined, next: undefined })
  }

  storePair(blocks: KeyBlocks, encoded: Uint8Array): void {
    blocks.pair = this.#store(encoded)
  }

  /** Copies a block so that it ends at `end`, and returns its start. Up to three bytes before the start are overwritten. */
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
