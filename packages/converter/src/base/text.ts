/** The maximum number of UTF-8 bytes of a string attribute. */
export const MAX_VALUE_BYTES = 4_096
/** The maximum number of UTF-8 bytes of a span name or log body. */
export const MAX_NAME_BYTES = 1_024
export const MAX_ARRAY_ELEMENTS = 128

/**
 * The maximum number of UTF-8 bytes per UTF-16 code unit. If a text fits even with this many bytes per unit, its bytes
 * need not be counted.
 */
const BYTES_PER_UNIT = 3

/** The number of values that the conversion changed. It is the only indication that output and input differ. */
export interface Tally {
  truncatedTexts: number
  droppedElements: number
  adjustedSpans: number
}

export const newTally = (): Tally => ({ truncatedTexts: 0, droppedElements: 0, adjustedSpans: 0 })

/** Returns the text without NUL and lone surrogates, cut at a code point so that it has at most `maxBytes` in UTF-8. */
export function cleanText(text: string, maxBytes: number, tally: Tally): string {
  let clean = text.isWellFormed() ? text : text.toWellFormed()
  if (clean.includes('\0')) clean = clean.replaceAll('\0', '')
  if (clean.length * BYTES_PER_UNIT <= maxBytes || Buffer.byteLength(clean) <= maxBytes) return clean
  tally.truncatedTexts++
  return clean.slice(0, unitsWithin(clean, maxBytes))
}

/** Returns the UTF-16 length of the longest prefix of whole code points that fits into `maxBytes`. */
function unitsWithin(text: string, maxBytes: number): number {
  let bytes = 0
  let units = 0
  for (const char of text) {
    const code = char.codePointAt(0)!
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4
    if (bytes > maxBytes) break
    units += char.length
  }
  return units
}
