/** The maximum counts for a JSON text. `Infinity` allows any count. */
export interface JsonLimits {
  /** The number of arrays and objects. */
  readonly containers: number
  /** The number of arrays, objects, strings, numbers and literals, including the outermost. Member names do not count. */
  readonly values: number
  /** The number of arrays and objects that are open at the same time: 0 for `1`, 1 for `[]`, 2 for `[{}]`. */
  readonly depth: number
  /** The number of elements of one array, or of members of one object. */
  readonly elements: number
  /** The number of members of all objects together. A member takes several times as long to parse as an element. */
  readonly members: number
  /** The number of characters of one number. */
  readonly digits: number
}

export const unlimitedJson: JsonLimits = {
  containers: Infinity,
  values: Infinity,
  depth: Infinity,
  elements: Infinity,
  members: Infinity,
  digits: Infinity,
}

export type JsonLimit = keyof JsonLimits

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c

/** The class of a byte outside strings. */
const OTHER = 0
const BLANK = 1
const QUOTED = 2
const SEPARATOR = 3
const OPENING = 4
const CLOSING = 5
const PAIRING = 6

const kinds = new Uint8Array(256)
for (const byte of [0x20, 0x09, 0x0a, 0x0d]) kinds[byte] = BLANK
for (const byte of [0x5b, 0x7b]) kinds[byte] = OPENING
for (const byte of [0x5d, 0x7d]) kinds[byte] = CLOSING
kinds[QUOTE] = QUOTED
kinds[COMMA] = SEPARATOR
kinds[COLON] = PAIRING

/** The depth up to which elements can be limited. */
const MAX_COUNTED_DEPTH = 10_000

/** The length up to which strings are scanned byte by byte. Most strings are shorter; a native search is faster for longer ones. */
const SHORT_STRING_BYTES = 48

/**
 * Counts what `JsonLimits` limits in a JSON text while its bytes arrive, and stops at the first limit that is exceeded.
 *
 * For text that `JSON.parse` accepts, the counts are exact, except that a repeated member counts each time, because each
 * is parsed. Malformed text is not detected; its counts are exact only for the part that a parser reads before it fails.
 *
 * Memory does not depend on the text, and time is proportional to the bytes. Bytes may be split anywhere.
 */
export class JsonScanner {
  readonly #limits: JsonLimits
  #exceeded: JsonLimit | undefined
  #containers = 0
  #values = 0
  #depth = 0
  #members = 0
  /** The number of commas so far in the open container of each depth; empty if elements are not limited. */
  readonly #commas: Uint32Array
  /** The number of characters so far of the number at the end of the bytes. */
  #digits = 0
  /** True until a token follows the start of the text or of the innermost container. */
  #isEmpty = true
  #inString = false
  /** True if the next byte follows a backslash in a string. */
  #isEscaped = false

  constructor(limits: JsonLimits) {
    this.#limits = limits
    const { elements, depth } = limits
    if (elements < Infinity && depth > MAX_COUNTED_DEPTH) {
      throw new RangeError(`elements can be limited up to a depth of ${MAX_COUNTED_DEPTH}`)
    }
    this.#commas = new Uint32Array(elements < Infinity ? depth + 1 : 0)
  }

  /** The first limit that the bytes so far exceed. */
  get exceeded(): JsonLimit | undefined {
    return this.#exceeded
  }

  /** Returns the first limit that the bytes so far exceed, or `undefined`. Bytes after that point are not read. */
  write(chunk: Uint8Array): JsonLimit | undefined {
    if (this.#exceeded !== undefined || chunk.length === 0) return this.#exceeded
    const { containers: mostContainers, values: mostValues, depth: mostDepth } = this.#limits
    const { members: mostMembers, digits: mostDigits } = this.#limits
    const commas = this.#commas
    const countsElements = commas.length > 0
    const mostCommas = this.#limits.elements - 1
    const end = chunk.length
    let containers = this.#containers
    let values = this.#values
    let depth = this.#depth
    let members = this.#members
    let digits = this.#digits
    let isEmpty = this.#isEmpty
    let exceeded: JsonLimit | undefined
    let at = this.#inString ? this.#endOfString(chunk, 0) : 0
    while (at < end) {
      const kind = kinds[chunk[at++]!]
      if (kind === BLANK) continue
      if (kind === OTHER) {
        if (++digits > mostDigits) exceeded = 'digits'
        else if (!isEmpty) continue
        if (isEmpty) values++
        isEmpty = false
      } else {
        digits = 0
        if (kind === SEPARATOR) {
          isEmpty = false
          values++
          if (countsElements && ++commas[depth]! > mostCommas) exceeded = 'elements'
        } else if (kind === QUOTED) {
          if (isEmpty) values++
          isEmpty = false
          at = this.#endOfString(chunk, at)
        } else if (kind === OPENING) {
          if (isEmpty) values++
          isEmpty = true
          containers++
          depth++
          if (depth > mostDepth) exceeded = 'depth'
          else if (containers > mostContainers) exceeded = 'containers'
          if (countsElements) commas[depth] = 0
        } else if (kind === CLOSING) {
          isEmpty = false
          if (depth > 0) depth--
        } else if (++members > mostMembers) exceeded = 'members'
      }
      if (values > mostValues) exceeded ??= 'values'
      if (exceeded !== undefined) break
    }
    this.#containers = containers
    this.#values = values
    this.#depth = depth
    this.#members = members
    this.#digits = digits
    this.#isEmpty = isEmpty
    this.#exceeded = exceeded
    return exceeded
  }

  /** Returns the index after the string's closing quote, or the chunk's length if the string continues in the next chunk. */
  #endOfString(chunk: Uint8Array, from: number): number {
    const end = chunk.length
    let at = from
    if (this.#isEscaped && at < end) {
      this.#isEscaped = false
      at++
    }
    this.#inString = true
    while (at < end) {
      const shortEnd = Math.min(end, at + SHORT_STRING_BYTES)
      while (at < shortEnd) {
        const byte = chunk[at++]!
        if (byte === QUOTE) {
          this.#inString = false
          return at
        }
        if (byte === BACKSLASH) at++
      }
      if (at >= end) break
      const quoteAt = chunk.indexOf(QUOTE, at)
      const stopAt = quoteAt === -1 ? end : quoteAt
      // An odd number of backslashes before a quote, or before the next chunk's first byte, escapes it.
      let backslashesAt = stopAt
      while (backslashesAt > at && chunk[backslashesAt - 1] === BACKSLASH) backslashesAt--
      const isEscaped = (stopAt - backslashesAt) % 2 === 1
      if (quoteAt === -1) at = isEscaped ? end + 1 : end
      else if (isEscaped) at = quoteAt + 1
      else {
        this.#inString = false
        return quoteAt + 1
      }
    }
    // `at` is one past the end if the chunk ended with a backslash that escapes the next chunk's first byte.
    this.#isEscaped = at > end
    return end
  }
}

/**
 * Returns the first limit that `bytes` exceed, or `undefined` if they are within all.
 *
 * Takes 2 to 5 ms per MB. Several MB would block the event loop for too long, so pass large bodies to a `JsonScanner`
 * while they arrive.
 */
export function exceededJsonLimit(bytes: Uint8Array, limits: JsonLimits): JsonLimit | undefined {
  return new JsonScanner(limits).write(bytes)
}
