import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** The length from which a string is parsed apart from the rest of its text. */
const LONG_STRING_BYTES = 32 * 1024
/** The bytes of long strings that one turn of the event loop decodes and parses. */
export const BYTES_PER_TURN = 256 * 1024
/** The bytes that one turn searches for long strings, which is much faster. */
const SEARCHED_PER_TURN = 2 * 1024 * 1024

const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const blanks: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d])

/** A string in a JSON text, without its quotes. */
interface StringRange {
  readonly start: number
  readonly end: number
}

/**
 * Decodes and parses a JSON text, with long strings in several turns of the event loop. A file in a request is such a
 * string, and parsing one of many megabytes would block all other requests.
 *
 * @throws if the text is not JSON, or not UTF-8
 */
export async function parseJsonInTurns(bytes: Uint8Array): Promise<unknown> {
  const ranges = await longStringsIn(bytes)
  if (ranges.length === 0) return JSON.parse(decode(bytes))
  const texts: string[] = []
  for (const range of ranges) texts.push(await parseLongString(bytes, range))
  // A client cannot know the place holders of a request.
  const prefix = `${randomUUID()} `
  const parsed: unknown = JSON.parse(decode(withPlaceholders(bytes, ranges, prefix)))
  return withTexts(parsed, (value) => (value.startsWith(prefix) ? texts[Number(value.slice(prefix.length))]! : value))
}

/**
 * Replaces every string of a parsed value, but no name, in place. A reviver of `JSON.parse` cannot do it: with one, Node 24
 * reads the name `"\n"` as a backslash.
 */
function withTexts(parsed: unknown, replace: (value: string) => string): unknown {
  const root = { parsed }
  const waiting: Record<string, unknown>[] = [root]
  for (let container = waiting.pop(); container !== undefined; container = waiting.pop()) {
    for (const [name, value] of Object.entries(container)) {
      if (typeof value === 'string') container[name] = replace(value)
      else if (typeof value === 'object' && value !== null) waiting.push(value as Record<string, unknown>)
    }
  }
  return root.parsed
}

const decode = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes)

/** Returns the long strings of a text that are not names of members. */
async function longStringsIn(bytes: Uint8Array): Promise<StringRange[]> {
  const found: StringRange[] = []
  let searchedAt = 0
  for (let quoteAt = bytes.indexOf(QUOTE); quoteAt !== -1; ) {
    const start = quoteAt + 1
    let end = bytes.indexOf(QUOTE, start)
    while (end !== -1 && isEscaped(bytes, end, start)) {
      if (end - searchedAt > SEARCHED_PER_TURN) {
        await nextTurn()
        searchedAt = end
      }
      end = bytes.indexOf(QUOTE, end + 1)
    }
    if (end === -1) break
    if (end - start >= LONG_STRING_BYTES && !isName(bytes, end + 1)) found.push({ start, end })
    quoteAt = bytes.indexOf(QUOTE, end + 1)
  }
  return found
}

/** Returns whether an odd number of backslashes is in front of a byte. */
function isEscaped(bytes: Uint8Array, at: number, start: number): boolean {
  let first = at
  while (first > start && bytes[first - 1] === BACKSLASH) first -= 1
  return (at - first) % 2 === 1
}

function isName(bytes: Uint8Array, after: number): boolean {
  let at = after
  while (blanks.has(bytes[at])) at += 1
  return bytes[at] === COLON
}

async function parseLongString(bytes: Uint8Array, { start, end }: StringRange): Promise<string> {
  // A byte order mark at the beginning of a slice belongs to the string.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const slices: string[] = []
  for (let at = start; at < end; ) {
    await nextTurn()
    const sliceEnd = endOfSlice(bytes, at, end)
    slices.push(JSON.parse(`"${decoder.decode(bytes.subarray(at, sliceEnd))}"`) as string)
    at = sliceEnd
  }
  return slices.join('')
}

/** Returns where a slice ends, so that no character and no escape sequence is cut. */
function endOfSlice(bytes: Uint8Array, start: number, stringEnd: number): number {
  let end = start + BYTES_PER_TURN
  if (end >= stringEnd) return stringEnd
  while (isContinuation(bytes[end]!)) end -= 1
  // `\u0041` is the longest escape sequence.
  const backslashAt = bytes.subarray(end - 5, end).lastIndexOf(BACKSLASH) + end - 5
  if (backslashAt < end - 5 || isEscaped(bytes, backslashAt, start)) return end
  const length = bytes[backslashAt + 1] === LETTER_U ? 6 : 2
  return backslashAt + length > end ? backslashAt : end
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80

/** Returns the text with a short string in place of each long one. */
function withPlaceholders(bytes: Uint8Array, ranges: readonly StringRange[], prefix: string): Uint8Array {
  const parts: Uint8Array[] = []
  let at = 0
  for (const [index, { start, end }] of ranges.entries()) {
    parts.push(bytes.subarray(at, start), Buffer.from(prefix + index))
    at = end
  }
  return Buffer.concat([...parts, bytes.subarray(at)])
}
