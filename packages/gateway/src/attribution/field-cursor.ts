import { malformed } from './body-refused.ts'

export const LENGTH_DELIMITED = 2

/**
 * Walks over the fields of one protobuf message and looks into none of them.
 *
 *     | tag | length | value … | next field
 *     start          valueStart end
 *
 * Groups are refused: OTLP has none, and an unclosed one would swallow what follows.
 */
export class FieldCursor {
  readonly #bytes: Uint8Array
  readonly #messageEnd: number
  /** Of a body of which only the beginning is there: a value cut short counts up to where the bytes end. */
  readonly #isCutShort: boolean
  number = 0
  wireType = 0
  start = 0
  valueStart = 0
  end: number

  constructor(bytes: Uint8Array, messageStart = 0, messageEnd = bytes.length, isCutShort = false) {
    this.#bytes = bytes
    this.#messageEnd = messageEnd
    this.#isCutShort = isCutShort
    this.end = messageStart
  }

  /** Moves on to the next field; false when there is none. Throws `BodyRefused`. */
  next(): boolean {
    if (this.end >= this.#messageEnd) return false
    this.start = this.end
    const tag = this.#varint()
    this.number = Math.floor(tag / 8)
    this.wireType = tag % 8
    if (this.number === 0 || tag > 0xffff_ffff) malformed('a field without a number')
    this.valueStart = this.end
    switch (this.wireType) {
      case 0:
        this.#varint()
        return true
      case 1:
        this.#pass(8)
        return true
      case LENGTH_DELIMITED: {
        const length = this.#varint()
        this.valueStart = this.end
        this.#pass(length)
        return true
      }
      case 5:
        this.#pass(4)
        return true
      default:
        return malformed(`wire type ${this.wireType}`)
    }
  }

  is(number: number, wireType: number): boolean {
    return this.number === number && this.wireType === wireType
  }

  #pass(length: number): void {
    if (length <= this.#messageEnd - this.end) this.end += length
    else if (this.#isCutShort) this.end = this.#messageEnd
    else malformed('a field is longer than the message around it')
  }

  /** Exact up to 2^53, above that only known to be large. */
  #varint(): number {
    let value = 0
    let factor = 1
    for (let index = 0; index < 10; index += 1) {
      if (this.end >= this.#messageEnd) malformed('ends in the middle of a number')
      const byte = this.#bytes[this.end]!
      this.end += 1
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
      factor *= 0x80
    }
    return malformed('a number longer than 64 bits')
  }
}
