import { STATIC_ENTRIES, staticNames, staticValues } from './hpack-static-table.ts'

/** The first index of each name of the static table. Entries with the same name follow each other. */
const firstIndexes: ReadonlyMap<string, number> = buildFirstIndexes()

/** The bits of an indexed field's first byte (RFC 7541, section 6.1). Those of a literal without indexing are 0 (section 6.2.2). */
const INDEXED = 0x80

/** The most bytes that a field needs in addition to its name and value: one for its kind, and the integers. */
const MAX_FIELD_OVERHEAD_BYTES = 16

/** Up to this length, a loop is faster than the call of `Buffer.write`. */
const MAX_LOOPED_LENGTH = 32

/**
 * Encodes a header list as an HPACK block. The fields are alternating names and values; names are in lower case, and characters are
 * at most U+00FF. The block refers only to the static table, so it can be repeated on each connection.
 */
export function encodeFields(fields: readonly string[]): Uint8Array {
  let maxBytes = 0
  for (let at = 0; at < fields.length; at += 2) {
    maxBytes += fields[at]!.length + fields[at + 1]!.length + MAX_FIELD_OVERHEAD_BYTES
  }
  const block = Buffer.allocUnsafe(maxBytes)
  let end = 0
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at]!
    const value = fields[at + 1]!
    const nameIndex = firstIndexes.get(name) ?? 0
    const index = indexOfField(nameIndex, name, value)
    if (index > 0) {
      end = writeInteger(block, end, INDEXED, 0x7f, index)
      continue
    }
    end = writeInteger(block, end, 0, 0x0f, nameIndex)
    if (nameIndex === 0) end = writeString(block, end, name)
    end = writeString(block, end, value)
  }
  return block.subarray(0, end)
}

/** Returns the index of a field in the static table, or 0. `nameIndex` is the first one with its name, or 0. */
function indexOfField(nameIndex: number, name: string, value: string): number {
  if (nameIndex === 0) return 0
  for (let index = nameIndex; staticNames[index] === name; index += 1) if (staticValues[index] === value) return index
  return 0
}

/** Writes an integer into the bits of `mask` and the bytes after it. Returns the position after it. */
function writeInteger(block: Uint8Array, start: number, kind: number, mask: number, value: number): number {
  if (value < mask) {
    block[start] = kind | value
    return start + 1
  }
  block[start] = kind | mask
  let at = start + 1
  let rest = value - mask
  while (rest >= 0x80) {
    block[at] = 0x80 | (rest & 0x7f)
    at += 1
    rest >>>= 7
  }
  block[at] = rest
  return at + 1
}

/** Writes a string literal without the Huffman code. Returns the position after it. */
function writeString(block: Buffer, start: number, text: string): number {
  const at = writeInteger(block, start, 0, 0x7f, text.length)
  if (text.length > MAX_LOOPED_LENGTH) return at + block.write(text, at, 'latin1')
  for (let index = 0; index < text.length; index += 1) block[at + index] = text.charCodeAt(index)
  return at + text.length
}

function buildFirstIndexes(): Map<string, number> {
  const indexes = new Map<string, number>()
  for (let index = STATIC_ENTRIES; index > 0; index -= 1) indexes.set(staticNames[index]!, index)
  return indexes
}
