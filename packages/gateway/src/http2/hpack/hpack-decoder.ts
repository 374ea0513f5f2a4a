import { latin1Text } from '../../node-internals/latin1-text.ts'
import { STATIC_ENTRIES, staticNames, staticValues } from './hpack-static-table.ts'
import { CONTAINS_EOS, decodeHuffman, INVALID_PADDING, maxHuffmanOutputBytes } from './huffman-decoder.ts'

/** A header block is invalid, which is a connection error of type COMPRESSION_ERROR. */
export class HpackError extends Error {
  override readonly name = 'HpackError'
}

interface HpackLimits {
  /**
   * The SETTINGS_HEADER_TABLE_SIZE that the server advertises. Below 4096 it must be known to the client before its first request,
   * because the table has the lower size from the beginning.
   */
  readonly tableBytes: number
  /** The highest size of a header list: the names and values, and 32 bytes per field (RFC 9113, section 6.5.2). */
  readonly maxListBytes: number
  readonly maxFields: number
}

/** A header block that is remembered with its fields. */
interface RememberedBlock {
  /** The block is at the beginning. */
  bytes: Uint8Array
  length: number
  /** The version of the dynamic table that the block was decoded with. */
  version: number
  fields: readonly string[]
}

/** The size of a field is that of its name and its value and this. */
const FIELD_OVERHEAD_BYTES = 32
/** The size of the dynamic table before the first size update. */
export const INITIAL_TABLE_BYTES = 4096
const MAX_INTEGER = 2 ** 28
const MAX_CONTINUATION_BYTES = 5
/** The number of blocks that are remembered: clients that share a connection between signals send one for each. */
const REMEMBERED_BLOCKS = 4
const MAX_REMEMBERED_BYTES = 512

/** The output of the Huffman decoder. It is used only within a call, so all connections share it. */
let scratch: Uint8Array = new Uint8Array(1024)

/**
 * The HPACK decoder of one connection (RFC 7541), for blocks that repeat. After an `HpackError` it must not be used again.
 */
export class HpackDecoder {
  readonly #tableLimitBytes: number
  readonly #maxListBytes: number
  readonly #maxFields: number
  readonly #maxStringBytes: number

  // The dynamic table is a ring: the newest entry precedes `#next`, and `#entries` of them are in use. Unused ones are empty.
  readonly #names: string[]
  readonly #values: string[]
  readonly #mask: number
  #next = 0
  #entries = 0
  #usedBytes = 0
  #maxTableBytes: number
  /** The number of changes of the dynamic table and its size. */
  #version = 0

  readonly #remembered: RememberedBlock[] = []
  #oldestRemembered = 0

  /** The position in the current block. */
  #at = 0
  #literalStart = 0
  #literalEnd = 0

  constructor(limits: HpackLimits) {
    this.#tableLimitBytes = limits.tableBytes
    this.#maxListBytes = limits.maxListBytes
    this.#maxFields = limits.maxFields
    this.#maxStringBytes = Math.max(limits.tableBytes, limits.maxListBytes)
    this.#maxTableBytes = Math.min(limits.tableBytes, INITIAL_TABLE_BYTES)
    let slots = 1
    while (slots * FIELD_OVERHEAD_BYTES < limits.tableBytes) slots *= 2
    this.#names = new Array<string>(slots).fill('')
    this.#values = new Array<string>(slots).fill('')
    this.#mask = slots - 1
  }

  /**
   * Decodes a complete header block. The caller limits its size. Returns alternating names and values, in which each byte is a
   * character. Repeated blocks return the same array. Returns `undefined` if the list exceeds the limits; the dynamic table is then updated nevertheless.
   * @throws HpackError if the block is invalid
   */
  decode(block: Uint8Array): readonly string[] | undefined {
    const remembered = this.#findRemembered(block)
    if (remembered !== undefined) return remembered
    const version = this.#version
    const end = block.length
    const fields: string[] = []
    let listBytes = 0
    let count = 0
    let fits = true
    this.#at = 0
    while (this.#at < end) {
      const first = block[this.#at]!
      if (first >= 0x80) {
        const index = this.#readInteger(block, 0x7f)
        const name = this.#nameAt(index)
        const value = this.#valueAt(index)
        count += 1
        listBytes += name.length + value.length + FIELD_OVERHEAD_BYTES
        fits &&= listBytes <= this.#maxListBytes && count <= this.#maxFields
        if (fits) fields.push(name, value)
        continue
      }
      if (first >= 0x20 && first < 0x40) {
        if (count > 0) throw new HpackError('size update after a field')
        this.#resizeTable(this.#readInteger(block, 0x1f))
        continue
      }
      // Fields that may or must not be indexed by proxies do not differ for a server.
      const isInserted = first >= 0x40
      const nameIndex = this.#readInteger(block, isInserted ? 0x3f : 0x0f)
      let name = ''
      let nameBytes = 0
      if (nameIndex > 0) {
        name = this.#nameAt(nameIndex)
        nameBytes = name.length
      } else {
        const source = this.#readLiteral(block)
        nameBytes = this.#literalEnd - this.#literalStart
        if (nameBytes <= this.#maxStringBytes) name = latin1Text(source, this.#literalStart, this.#literalEnd)
      }
      const source = this.#readLiteral(block)
      const fieldBytes = nameBytes + this.#literalEnd - this.#literalStart + FIELD_OVERHEAD_BYTES
      count += 1
      listBytes += fieldBytes
      fits &&= listBytes <= this.#maxListBytes && count <= this.#maxFields
      const isStored = isInserted && fieldBytes <= this.#maxTableBytes
      const value = fits || isStored ? latin1Text(source, this.#literalStart, this.#literalEnd) : ''
      if (fits) fields.push(name, value)
      if (isStored) this.#insert(name, value, fieldBytes)
      // An entry that is larger than the table empties it.
      else if (isInserted) this.#evictTo(0)
    }
    if (!fits) return undefined
    if (version === this.#version && end <= MAX_REMEMBERED_BYTES) this.#remember(block, fields)
    return fields
  }

  #nameAt(index: number): string {
    return index <= STATIC_ENTRIES && index > 0 ? staticNames[index]! : this.#names[this.#slotOf(index)]!
  }

  #valueAt(index: number): string {
    return index <= STATIC_ENTRIES && index > 0 ? staticValues[index]! : this.#values[this.#slotOf(index)]!
  }

  /** Returns the position in the ring of an entry of the dynamic table. */
  #slotOf(index: number): number {
    const age = index - STATIC_ENTRIES
    if (index === 0) throw new HpackError('index 0')
    if (age > this.#entries) throw new HpackError('index beyond the table')
    return (this.#next - age) & this.#mask
  }

  #insert(name: string, value: string, fieldBytes: number): void {
    this.#evictTo(this.#maxTableBytes - fieldBytes)
    this.#names[this.#next] = name
    this.#values[this.#next] = value
    this.#next = (this.#next + 1) & this.#mask
    this.#entries += 1
    this.#usedBytes += fieldBytes
  }

  #resizeTable(bytes: number): void {
    if (bytes > this.#tableLimitBytes) throw new HpackError('size update above the limit')
    this.#maxTableBytes = bytes
    this.#evictTo(bytes)
  }

  /** Removes the oldest entries until the others need at most `bytes`. The table is treated as changed in any case. */
  #evictTo(bytes: number): void {
    this.#version += 1
    while (this.#usedBytes > bytes) {
      const slot = (this.#next - this.#entries) & this.#mask
      this.#usedBytes -= this.#names[slot]!.length + this.#values[slot]!.length + FIELD_OVERHEAD_BYTES
      this.#entries -= 1
      // Otherwise a client could make a connection keep a whole table's bytes in each entry of the ring.
      this.#names[slot] = ''
      this.#values[slot] = ''
    }
  }

  /** Reads an integer that begins with the bits in `mask` of the current byte, which exists. */
  #readInteger(block: Uint8Array, mask: number): number {
    let value = block[this.#at]! & mask
    this.#at += 1
    if (value < mask) return value
    let factor = 1
    for (let bytes = 0; bytes < MAX_CONTINUATION_BYTES; bytes += 1) {
      if (this.#at >= block.length) throw new HpackError('truncated block')
      const byte = block[this.#at]!
      this.#at += 1
      value += (byte & 0x7f) * factor
      if (value > MAX_INTEGER) break
      if (byte < 0x80) return value
      factor *= 0x80
    }
    throw new HpackError('integer too large')
  }

  /** Reads a string literal. Returns the bytes that contain it, from `#literalStart` to `#literalEnd`. */
  #readLiteral(block: Uint8Array): Uint8Array {
    if (this.#at >= block.length) throw new HpackError('truncated block')
    const isHuffman = block[this.#at]! >= 0x80
    const length = this.#readInteger(block, 0x7f)
    const start = this.#at
    const end = start + length
    if (end > block.length) throw new HpackError('string beyond the block')
    this.#at = end
    if (!isHuffman) {
      this.#literalStart = start
      this.#literalEnd = end
      return block
    }
    const maxBytes = maxHuffmanOutputBytes(length)
    if (scratch.length < maxBytes) scratch = new Uint8Array(maxBytes * 2)
    const written = decodeHuffman(block, start, end, scratch)
    if (written === INVALID_PADDING) throw new HpackError('invalid Huffman padding')
    if (written === CONTAINS_EOS) throw new HpackError('EOS in a Huffman string')
    this.#literalStart = 0
    this.#literalEnd = written
    return scratch
  }

  #findRemembered(block: Uint8Array): readonly string[] | undefined {
    const remembered = this.#remembered
    for (let at = 0; at < remembered.length; at += 1) {
      const { bytes, length, version, fields } = remembered[at]!
      if (length === block.length && version === this.#version && startsWith(bytes, block)) return fields
    }
    return undefined
  }

  #remember(block: Uint8Array, fields: readonly string[]): void {
    const at = this.#oldestRemembered
    this.#oldestRemembered = (at + 1) % REMEMBERED_BLOCKS
    const entry = this.#remembered[at]
    if (entry === undefined) {
      // A copy, because the caller reuses its buffer. `slice` of a Buffer would return a view.
      this.#remembered.push({ bytes: new Uint8Array(block), length: block.length, version: this.#version, fields })
      return
    }
    if (entry.bytes.length < block.length) entry.bytes = new Uint8Array(block.length)
    entry.bytes.set(block)
    entry.length = block.length
    entry.version = this.#version
    entry.fields = fields
  }
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  for (let at = 0; at < start.length; at += 1) if (bytes[at] !== start[at]) return false
  return true
}
