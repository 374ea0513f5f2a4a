/**
 * The request line and the headers of a request in the form that OTLP exporters send. The accepted grammar is narrower than that
 * of HTTP/1.1, so that no other reader can understand an accepted head differently.
 */
export interface FastHead {
  readonly path: string
  /** Alternating names and values, as in `rawHeaders` of node:http, without Content-Length. */
  readonly rawHeaders: readonly string[]
  /** The value of Content-Length. */
  readonly bodyBytes: number
  /** Whether the client keeps the connection open after the answer. */
  readonly keepsAlive: boolean
  /** The length of the head in bytes, including the empty line. */
  readonly headBytes: number
  /** The position of the first digit of Content-Length. In a repeated head it is the position in the remembered one. */
  readonly lengthStart: number
  /** The position after the last digit of Content-Length. In a repeated head it is the position in the remembered one. */
  readonly lengthEnd: number
}

/** The limits of this reader. They are below those of node:http, to which heads beyond them are left. */
const MAX_HEAD_BYTES = 8 * 1024
const MAX_HEADERS = 32
/** The highest number of digits for which every integer is a safe one. */
const MAX_LENGTH_DIGITS = 15

const TAB = 0x09
const LF = 0x0a
const CR = 0x0d
const SPACE = 0x20
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a

const METHOD = Buffer.from('POST /')
const VERSION = Buffer.from(' HTTP/1.1\r\n')

/** The classes that a byte can belong to, as bits. */
const IN_PATH = 1
const IN_NAME = 2
const IN_VALUE = 4
const byteClasses = classesOfBytes()

/** The role of a header in the framing of the request. Headers that are not in `framings` have none. */
type Framing = 'connection' | 'host' | 'length' | 'foreign'

/** The headers that concern the framing. A head with a `foreign` one is left to node:http. */
const framings: ReadonlyMap<string, Framing> = new Map<string, Framing>([
  ['connection', 'connection'],
  ['content-length', 'length'],
  ['expect', 'foreign'],
  ['host', 'host'],
  ['http2-settings', 'foreign'],
  ['keep-alive', 'foreign'],
  ['proxy-connection', 'foreign'],
  ['te', 'foreign'],
  ['trailer', 'foreign'],
  ['transfer-encoding', 'foreign'],
  ['upgrade', 'foreign'],
])

/**
 * Returns the head at the beginning of `bytes`, or `undefined` if node:http must read it. A head is accepted if it is complete and
 * consists of `POST <path> HTTP/1.1`, one Host, one Content-Length, at most one Connection, which is `keep-alive` or `close`, and
 * headers that do not concern the framing. Values are not empty, and have only visible ASCII characters, spaces and tabs.
 *
 * @see docs/contributing/decisions/0019-fast-path.md
 */
export function readFastHead(bytes: Buffer): FastHead | undefined {
  const limit = Math.min(bytes.length, MAX_HEAD_BYTES)
  if (!hasAt(bytes, 0, METHOD)) return undefined
  const pathStart = METHOD.length - 1
  const pathEnd = endOfClass(bytes, METHOD.length, limit, IN_PATH)
  if (!hasAt(bytes, pathEnd, VERSION)) return undefined
  const rawHeaders: string[] = []
  let headers = 0
  let hosts = 0
  let connection: string | undefined
  let bodyBytes = -1
  let lengthStart = 0
  let lengthEnd = 0
  let at = pathEnd + VERSION.length
  while (bytes[at] !== CR) {
    const nameEnd = endOfClass(bytes, at, limit, IN_NAME)
    if (nameEnd === at || bytes[nameEnd] !== COLON || headers === MAX_HEADERS) return undefined
    const lineEnd = endOfClass(bytes, nameEnd + 1, limit, IN_VALUE)
    if (lineEnd >= limit || !isLineEnd(bytes, lineEnd)) return undefined
    const valueStart = startWithoutBlanks(bytes, nameEnd + 1, lineEnd)
    const valueEnd = endWithoutBlanks(bytes, valueStart, lineEnd)
    if (valueStart === valueEnd) return undefined
    const name = bytes.toString('latin1', at, nameEnd)
    const value = bytes.toString('latin1', valueStart, valueEnd)
    const framing = framings.get(name.toLowerCase())
    switch (framing) {
      case 'host':
        hosts += 1
        break
      case 'length':
        // Node 20 rejects a tab after the digits, and Node 24 accepts it.
        if (bodyBytes !== -1 || valueEnd !== lineEnd) return undefined
        bodyBytes = lengthIn(bytes, valueStart, valueEnd)
        if (bodyBytes === -1) return undefined
        lengthStart = valueStart
        lengthEnd = valueEnd
        break
      case 'connection':
        if (connection !== undefined || valueEnd !== lineEnd) return undefined
        connection = value.toLowerCase()
        if (connection !== 'keep-alive' && connection !== 'close') return undefined
        break
      case 'foreign':
        return undefined
    }
    if (framing !== 'length') rawHeaders.push(name, value)
    headers += 1
    at = lineEnd + 2
  }
  const headBytes = at + 2
  if (headBytes > limit || !isLineEnd(bytes, at) || hosts !== 1 || bodyBytes === -1) return undefined
  const path = bytes.toString('latin1', pathStart, pathEnd)
  return { path, rawHeaders, bodyBytes, keepsAlive: connection !== 'close', headBytes, lengthStart, lengthEnd }
}

/** The length of the longest head that is remembered. Each connection has a `FastHeadReader`, so this bounds memory. */
const MAX_REMEMBERED_BYTES = 1024

/**
 * Reads the heads of one connection. An exporter sends the same head with each request, except for the value of
 * Content-Length, so each head is first compared with the last one. Equal heads share one `rawHeaders` array.
 */
export class FastHeadReader {
  #last: FastHead | undefined
  #lastBytes: Buffer = Buffer.alloc(0)

  /** Returns the same as `readFastHead`, except for `lengthStart` and `lengthEnd` of a repeated head. */
  read(bytes: Buffer): FastHead | undefined {
    const repeated = this.#last && this.#repeated(bytes, this.#last)
    if (repeated !== undefined) return repeated
    const head = readFastHead(bytes)
    if (head !== undefined && head.headBytes <= MAX_REMEMBERED_BYTES) {
      this.#last = head
      // A copy, because a view would keep the body in memory.
      this.#lastBytes = Buffer.from(bytes.subarray(0, head.headBytes))
    }
    return head
  }

  #repeated(bytes: Buffer, last: FastHead): FastHead | undefined {
    const { lengthStart, lengthEnd } = last
    let end = lengthStart
    while (end - lengthStart <= MAX_LENGTH_DIGITS && isDigit(bytes[end])) end += 1
    const bodyBytes = lengthIn(bytes, lengthStart, end)
    const headBytes = last.headBytes + end - lengthEnd
    if (bodyBytes === -1 || bytes.length < headBytes) return undefined
    const before = this.#lastBytes
    const isEqual =
      bytes.compare(before, 0, lengthStart, 0, lengthStart) === 0 &&
      bytes.compare(before, lengthEnd, last.headBytes, end, headBytes) === 0
    return isEqual ? { ...last, bodyBytes, headBytes } : undefined
  }
}

/**
 * Returns the value of a Content-Length, or -1 if it is not a decimal number in its shortest form or has too many digits. `end` is
 * the position after its last digit.
 */
function lengthIn(bytes: Uint8Array, start: number, end: number): number {
  const digits = end - start
  if (digits < 1 || digits > MAX_LENGTH_DIGITS || (digits > 1 && bytes[start] === ZERO)) return -1
  let length = 0
  for (let at = start; at < end; at += 1) {
    if (!isDigit(bytes[at])) return -1
    length = length * 10 + (bytes[at]! - ZERO)
  }
  return length
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE

function hasAt(bytes: Uint8Array, start: number, expected: Uint8Array): boolean {
  for (let at = 0; at < expected.length; at += 1) if (bytes[start + at] !== expected[at]) return false
  return true
}

/** Returns the position of the first byte from `start` on that is not in the class, at most `limit`. */
function endOfClass(bytes: Uint8Array, start: number, limit: number, bit: number): number {
  let at = start
  while (at < limit && (byteClasses[bytes[at]!]! & bit) !== 0) at += 1
  return at
}

const isLineEnd = (bytes: Uint8Array, at: number): boolean => bytes[at] === CR && bytes[at + 1] === LF

const isBlank = (byte: number | undefined): boolean => byte === SPACE || byte === TAB

function startWithoutBlanks(bytes: Uint8Array, start: number, end: number): number {
  let at = start
  while (at < end && isBlank(bytes[at])) at += 1
  return at
}

function endWithoutBlanks(bytes: Uint8Array, start: number, end: number): number {
  let at = end
  while (at > start && isBlank(bytes[at - 1])) at -= 1
  return at
}

function classesOfBytes(): Uint8Array {
  const table = new Uint8Array(256)
  const alphanumerics = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
  for (const char of `${alphanumerics}/-._`) table[char.charCodeAt(0)]! |= IN_PATH
  // The token characters of RFC 9110, section 5.6.2.
  for (const char of `${alphanumerics}!#$%&'*+-.^_\`|~`) table[char.charCodeAt(0)]! |= IN_NAME
  for (let byte = SPACE; byte < 0x7f; byte += 1) table[byte]! |= IN_VALUE
  table[TAB]! |= IN_VALUE
  return table
}
