/** UTF-8 bytes a string attribute may have, and a span name or log body. @see spec/pipeline-telemetry.md 6.3 */
export const MAX_VALUE_BYTES = 4_096
export const MAX_NAME_BYTES = 1_024
export const MAX_ARRAY_ELEMENTS = 128

/** A UTF-16 code unit takes at most 3 bytes in UTF-8, so shorter texts need no counting. */
const BYTES_PER_UNIT = 3

/** What the conversion had to change; the caller's only sign that output and input differ. */
export interface Tally {
  truncatedTexts: number
  droppedElements: number
  adjustedSpans: number
}

export const newTally = (): Tally => ({ truncatedTexts: 0, droppedElements: 0, adjustedSpans: 0 })

/** Without NUL and lone surrogates, and cut on a code-point boundary at `maxBytes` of UTF-8. */
export function cleanText(text: string, maxBytes: number, tally: Tally): string {
  let clean = text.isWellFormed() ? text : text.toWellFormed()
  if (clean.includes('\0')) clean = clean.replaceAll('\0', '')
  if (clean.length * BYTES_PER_UNIT <= maxBytes || Buffer.byteLength(clean) <= maxBytes) return clean
  tally.truncatedTexts++
  return clean.slice(0, unitsWithin(clean, maxBytes))
}

/** UTF-16 length of the longest prefix of whole code points that fits `maxBytes`. */
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
