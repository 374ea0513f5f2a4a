import { malformed } from './body-refused.ts'

export const LENGTH_DELIMITED = 2

/**
 * Iterates over the fields of one protobuf message without decoding their values.
 *
 *     | tag | length | value … | next field
 *     start          valueStart end
 *
 * Rejects groups: OTLP has none, and an unclosed group would hide the fields that follow it.
 */
export class FieldCursor {
  readonly #bytes: Uint8Array
  readonly #messageEnd: number
  /** Whether only the beginning of the message is available. A truncated last value then ends where the bytes end. */
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

  /** Moves to the next field and returns true; returns false at the end of the message. Throws `BodyRefused`. */
  next(): boolean {
    if (this.end >= this.#messageEnd) return false
    this.start = this.end
    const tag = this.#varint()
    this.number = Math.floor(tag / 8)
    this.wireType = tag % 8
    if (this.number === 0 || tag > 0xffff_ffff) malformed('a field has no number')
    this.valueStart = this.end
    switch (this.wireType) {
      case 0:
        this.#varint()
        return true
      case 1:
        this.#skip(8)
        return true
      case LENGTH_DELIMITED: {
        const length = this.#varint()
        this.valueStart = this.end
        this.#skip(length)
        return true
      }
      case 5:
        this.#skip(4)
        return true
      default:
        return malformed(`wire type ${this.wireType}`)
    }
  }

  is(number: number, wireType: number): boolean {
    return this.number === number && this.wireType === wireType
  }

  #skip(length: number): void {
    if (length <= this.#messageEnd - this.end) this.end += length
    else if (this.#isCutShort) this.end = this.#messageEnd
    else malformed('a field is longer than the message that contains it')
  }

  /** Reads a varint. The result is exact up to 2^53; above that it is only approximate. */
  #varint(): number {
    let value = 0
    let factor = 1
    for (let index = 0; index < 10; index += 1) {
      if (this.end >= this.#messageEnd) malformed('the message ends in the middle of a number')
      const byte = this.#bytes[this.end]!
      this.end += 1
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
      factor *= 0x80
    }
    return malformed('a number is longer than 64 bits')
  }
}
