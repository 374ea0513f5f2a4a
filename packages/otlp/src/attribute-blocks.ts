/** Bytes in a `BlockPool`: [start, end). */
export interface Block {
  readonly start: number
  readonly end: number
}

/** What one attribute key was last encoded to. */
export interface KeyBlocks {
  /** The field `key` of a KeyValue, tag and length included; empty for an empty key. */
  readonly key: Block
  /** The last string this key stood beside. */
  text: string | undefined
  /** The whole KeyValue with that string, length in front, without a tag; made when the string comes a second time. */
  pair: Block | undefined
}

const INITIAL_BYTES = 4 * 1024
const MAX_BYTES = 128 * 1024
/** Copies go four bytes at a time and may read up to three bytes in front of a block. */
const COPY_SLACK = 3

/**
 * Encoded keys, and encoded pairs of a key and the string it had last. Keys come from a small vocabulary, and within a
 * pipeline, and mostly between two, a key that is not about one job keeps its value; copying is four times as fast as
 * encoding again. When the pool is full everything is forgotten and learnt anew.
 */
export class AttributeBlocks {
  readonly #byKey = new Map<string, KeyBlocks>()
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  view: DataView = new DataView(this.#bytes.buffer)
  #used = COPY_SLACK

  find(key: string): KeyBlocks | undefined {
    return this.#byKey.get(key)
  }

  learnKey(key: string, encoded: Uint8Array): KeyBlocks {
    const blocks: KeyBlocks = { key: this.#store(encoded), text: undefined, pair: undefined }
    this.#byKey.set(key, blocks)
    return blocks
  }

  learnPair(blocks: KeyBlocks, encoded: Uint8Array): void {
    blocks.pair = this.#store(encoded)
  }

  #store(encoded: Uint8Array): Block {
    if (this.#used + encoded.length > this.#bytes.length) this.#makeRoom(encoded.length)
    const start = this.#used
    const end = start + encoded.length
    this.#bytes.set(encoded, start)
    this.#used = end
    return { start, end }
  }

  #makeRoom(bytes: number): void {
  }
}
