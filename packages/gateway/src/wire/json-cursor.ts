import { malformed } from './body-refused.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
/**
 * The maximum nesting depth of JSON. Each level of an AnyValue takes four levels of JSON, and OTLP decoders accept far
 * fewer levels than this.
 */
const MAX_DEPTH = 512

/**
 * Reads forward through JSON text without parsing its values, because parsing would change 64-bit numbers.
 *
 * Finds the exact boundaries of values in all valid JSON, but does not detect every error in invalid JSON. All methods
 * throw `BodyRefused` on invalid or truncated text.
 */
export class JsonCursor {
  readonly #text: Buffer
  position = 0
  #depth = 0

  constructor(text: Uint8Array) {
    this.#text = Buffer.from(text.buffer, text.byteOffset, text.length)
  }

  /** Skips white space and returns the first character of the next token; '' at the end. */
  peek(): string {
    for (;;) {
      const byte = this.#text[this.position]
      if (byte === undefined) return ''
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return String.fromCharCode(byte)
      this.position += 1
    }
  }

  /** Calls `read` for each member of an object. `read` must advance the cursor past the value. */
  members(read: (key: string) => void): void {
    this.#list('{', '}', () => {
      const key = this.string()
      this.#expect(':')
      this.peek()
      read(key)
    })
  }

  /** Calls `read` at the first byte of each element of an array. `read` must advance the cursor past the element. */
  elements(read: () => void): void {
    this.#list('[', ']', read)
  }

  string(): string {
    if (this.peek() !== '"') malformed('a string was expected')
    const start = this.position
    this.#skipString()
    const inside = this.#text.toString('utf8', start + 1, this.position - 1)
    if (!inside.includes('\\')) return inside
    try {
      return JSON.parse(`"${inside}"`) as string
    } catch {
      return malformed('a string has an invalid escape')
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
    if (this.peek() !== '') malformed('data follows the JSON text')
  }

  readonly #skipElement = (): void => this.skip()

  readonly #skipMember = (): void => {
    if (this.peek() !== '"') malformed('a key was expected')
    this.#skipString()
    this.#expect(':')
    this.skip()
  }

  #list(open: string, close: string, read: () => void): void {
    this.#depth += 1
    if (this.#depth > MAX_DEPTH) malformed('it is nested too deeply')
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
        if (next !== ',') malformed(`"," or "${close}" was expected`)
      }
    }
    this.#depth -= 1
  }

  #expect(token: string): void {
    if (this.peek() !== token) malformed(`"${token}" was expected`)
    this.position += 1
  }

  /** Advances past the closing quote: the first one that follows an even number of backslashes. */
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
    malformed('a string is not terminated')
  }

  /** Advances past a number, true, false or null. */
  #skipWord(): void {
    const start = this.position
    for (;;) {
      const byte = this.#text[this.position]
      if (byte === undefined || !isWordByte(byte)) break
      this.position += 1
    }
    if (this.position === start) malformed('a value was expected')
  }
}

function isWordByte(byte: number): boolean {
  const isDigit = byte >= 0x30 && byte <= 0x39
  const isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a
  return isDigit || isLetter || byte === 0x2b || byte === 0x2d || byte === 0x2e
}
