const encoder = new TextEncoder()
const comma = encoder.encode(',')

/** Texts and bytes that are joined into one array at the end. */
export class JoinedBytes {
  readonly #parts: Uint8Array[] = []
  #length = 0

  /** The number of bytes so far. */
  get length(): number {
    return this.#length
  }

  add(part: string | Uint8Array): void {
    const bytes = typeof part === 'string' ? encoder.encode(part) : part
    this.#parts.push(bytes)
    this.#length += bytes.length
  }

  /** Adds items with commas between them. */
  addList<Item>(items: Iterable<Item>, addItem: (item: Item) => void): void {
    let isFirst = true
    for (const item of items) {
      if (!isFirst) this.add(comma)
      isFirst = false
      addItem(item)
    }
  }

  toBytes(): Uint8Array<ArrayBuffer> {
    const joined = new Uint8Array(this.#length)
    let at = 0
    for (const part of this.#parts) {
      joined.set(part, at)
      at += part.length
    }
    return joined
  }
}
