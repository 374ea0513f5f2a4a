import { CachingWriter } from '../bytes/caching-writer.ts'

export const COMMA = 0x2c
const QUOTE = 0x22
const BACKSLASH = 0x5c
const [OPEN_OBJECT, CLOSE_OBJECT, OPEN_LIST, CLOSE_LIST] = [0x7b, 0x7d, 0x5b, 0x5d]

/** The number of UTF-16 units from which native functions are faster than a loop over units. */
const NATIVE_FROM = 80

const needsNoEscape = /^[ !#-[\]-~]*$/

/**
 * Writes JSON in reverse, so an object is closed before its members are written, and opened after them. Each member and each
 * element is written with a comma before it. The opening bracket replaces the first comma.
 */
export class JsonWriter extends CachingWriter {
  /** Writes a text in quotes. A lone surrogate becomes U+FFFD, as in UTF-8. */
  text(text: string): void {
    if (text.length < NATIVE_FROM) {
      if (this.#shortText(text)) return
    } else if (needsNoEscape.test(text)) {
      this.quoted(text)
      return
    }
    this.raw(Buffer.from(JSON.stringify(text.toWellFormed())))
  }

  /**
   * Writes a short text in quotes if it is printable ASCII without quotation marks and backslashes, otherwise nothing. Returns
   * whether it wrote the text.
   */
  #shortText(text: string): boolean {
    this.reserve(text.length + 2)
    const { buffer } = this
    let at = this.start
    buffer[--at] = QUOTE
    for (let index = text.length - 1; index >= 0; index -= 1) {
      const unit = text.charCodeAt(index)
      if (unit < 0x20 || unit > 0x7e || unit === QUOTE || unit === BACKSLASH) return false
      buffer[--at] = unit
    }
    buffer[--at] = QUOTE
    this.start = at
    return true
  }

  /** Writes a text in quotes. It must be ASCII and need no escapes. */
  quoted(text: string): void {
    this.byte(QUOTE)
    this.ascii(text)
    this.byte(QUOTE)
  }

  /** Writes a text without quotes. It must be ASCII. */
  ascii(text: string): void {
    const { length } = text
    this.reserve(length)
    if (length >= NATIVE_FROM) {
      this.start -= length
      this.buffer.write(text, this.start, 'latin1')
      return
    }
    const { buffer } = this
    let at = this.start
    for (let index = length - 1; index >= 0; index -= 1) buffer[--at] = text.charCodeAt(index)
    this.start = at
  }

  /** Writes a few bytes, with a loop that is faster for them than `raw`. */
  constant(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    const { buffer } = this
    let at = this.start
    for (let index = bytes.length - 1; index >= 0; index -= 1) buffer[--at] = bytes[index]!
    this.start = at
  }

  /** Writes the end of an object, and returns the value for `openObject`. */
  closeObject(): number {
    this.byte(CLOSE_OBJECT)
    return this.written
  }

  /** Writes the beginning of an object. */
  openObject(closed: number): void {
    this.#open(OPEN_OBJECT, closed)
  }

  /** Writes the end of a list, and returns the value for `openList`. */
  closeList(): number {
    this.byte(CLOSE_LIST)
    return this.written
  }

  /** Writes the beginning of a list. */
  openList(closed: number): void {
    this.#open(OPEN_LIST, closed)
  }

  #open(bracket: number, closed: number): void {
    if (this.written === closed) this.byte(bracket)
    else this.buffer[this.start] = bracket
  }
}

/** Returns the bytes before the value of a member: a comma, the name and a colon. */
export const memberFront = (name: string): Uint8Array => new Uint8Array(Buffer.from(`,"${name}":`))
