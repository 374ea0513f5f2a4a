import { malformed } from './body-refused.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/** An AnyValue nests four levels of JSON for each of its own; decoders stop well below this. */
const MAX_DEPTH = 512

/**
 * Reads forward through JSON text without turning it into values: a number of 64 bits would not survive that.
 *
 * Where values begin and end is exact for all valid JSON; of invalid JSON not every fault is noticed. Everything
 * throws `BodyRefused`, also at the end of a text that is cut short.
 */
export class JsonCursor {
  readonly #text: Buffer
  position = 0
  #depth = 0

  constructor(text: Uint8Array) {
    this.#text = Buffer.from(text.buffer, text.byteOffset, text.length)
  }

  /** The first byte of the next token, as a character; '' at the end. */
  peek(): string {
    for (;;) {
      const byte = this.#text[this.position]
      if (byte === undefined) return ''
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return String.fromCharCode(byte)
      this.position += 1
    }
  }

  /** Calls `read` for each member of an object; it has to pass over the value. */
  members(read: (key: string) => void): void {
    this.#list('{', '}', () => {
      const key = this.string()
      this.#expect(':')
      this.peek()
      read(key)
    })
  }

  /** Calls `read` for each element of an array, at its first byte; it has to pass over it. */
  elements(read: () => void): void {
    this.#list('[', ']', read)
  }

  string(): string {
    if (this.peek() !== '"') malformed('not a string')
    const start = this.position
    this.#skipString()
    const inside = this.#text.toString('utf8', start + 1, this.position - 1)
    if (!inside.includes('\\')) return inside
    try {
      return JSON.parse(`"${inside}"`) as string
    } catch {
      return malformed('a bad escape')
    }
  }

  skip(): void {
    const first = this.peek()
    if (first === '{') this.#list('{', '}', this.#skipMember)
    else if (first === '[') this.#list('[', ']', this.#skipElement)
    else if (first === '"') this.#skipString()
    else this.#skipWord()
  }

  end(): void {
    if (this.peek() !== '') malformed('something follows the JSON text')
  }

  readonly #skipElement = (): void => this.skip()

  readonly #skipMember = (): void => {
    if (this.peek() !== '"') malformed('not a key')
    this.#skipString()
    this.#expect(':')
    this.skip()
  }

  #list(open: string, close: string, read: () => void): void {
    this.#depth += 1
    if (this.#depth > MAX_DEPTH) malformed('nested too deep')
    this.#expect(open)
    if (this.peek() === close) {
      this.position += 1
    } else {
      for (;;) {
        this.peek()
        read()
        const next = this.peek()
        this.position += 1
        if (next === close) break
        if (next !== ',') malformed(`neither "," nor "${close}"`)
      }
    }
    this.#depth -= 1
  }

  #expect(token: string): void {
    if (this.peek() !== token) malformed(`no "${token}"`)
    this.position += 1
  }

  /** To the quote that an even number of backslashes stands before. */
  #skipString(): void {
    const text = this.#text
    const first = this.position + 1
    for (let quote = text.indexOf(QUOTE, first); quote >= 0; quote = text.indexOf(QUOTE, quote + 1)) {
      let before = quote
      while (before > first && text[before - 1] === BACKSLASH) before -= 1
      if ((quote - before) % 2 === 0) {
        this.position = quote + 1
        return
      }
    }
    malformed('a string without an end')
  }

  /** Numbers, true, false, null: letters, digits, signs and points. */
  #skipWord(): void {
    const start = this.position
    for (;;) {
      const byte = this.#text[this.position]
      if (byte === undefined || !isWordByte(byte)) break
      this.position += 1
    }
    if (this.position === start) malformed('no value')
  }
}

function isWordByte(byte: number): boolean {
  const isDigit = byte >= 0x30 && byte <= 0x39
  const isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a
  return isDigit || isLetter || byte === 0x2b || byte === 0x2d || byte === 0x2e
}
