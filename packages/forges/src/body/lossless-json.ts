import { RecordError } from '../record/record-error.ts'
import { findSyntaxError } from './json-syntax.ts'

const byteOrderMark = '\ufeff'

/** The number of digits of the shortest integers that may lose precision as numbers. */
const LONG_DIGITS = 16
/** Matches an integer of 16 or more digits between characters that may surround a number. The match may lie within a string. */
const longInteger = /(?:^|[\s:,[-])[1-9]\d{15,999}(?=[\s,\]}]|$)/g
/**
 * Matches the colon after a key. An integer in the place of a key is invalid JSON. It is not quoted, because quotes
 * would make it valid.
 */
const keySeparator = /\s*:/y

/**
 * Parses JSON like `JSON.parse`, except that an integer of 16 to 1,000 digits becomes a BigInt with all its digits.
 * Shorter integers, fractions and exponents become numbers. The nesting may have any depth, because nothing here
 * recurses.
 *
 * Long integers are put in quotes behind a marker, parsed as strings and restored. The marker is a run of U+0000. JSON
 * can write that character only as `\u0000`. The marker is longer than every such run at the start of a string in the
 * text, so no other string begins with it.
 *
 * @throws {RecordError} with line and column if the text is not valid JSON
 */
export function parseLossless(text: string): unknown {
  const json = text.startsWith(byteOrderMark) ? text.slice(1) : text
  try {
    const integers = hasLongDigitRun(json) ? findLongIntegers(json) : []
    if (integers.length === 0) return JSON.parse(json)
    const markerLength = 1 + longestNulRun(json)
    const parsed: unknown = JSON.parse(quoteIntegers(json, integers, '\\u0000'.repeat(markerLength)))
    return restoreIntegers(parsed, '\0'.repeat(markerLength))
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw syntaxError(json)
  }
}

/**
 * Returns whether the text contains a run of 16 digits. Every such run covers one of the offsets 15, 31, 47 …, so only
 * these are checked. Most texts have no long integer, and searching with a pattern costs as much as reading the record.
 */
function hasLongDigitRun(json: string): boolean {
  for (let at = LONG_DIGITS - 1; at < json.length; at += LONG_DIGITS) {
    if (!isDigit(json.charCodeAt(at))) continue
    let start = at
    while (at - start < LONG_DIGITS - 1 && isDigit(json.charCodeAt(start - 1))) start -= 1
    let end = at + 1
    while (end - start < LONG_DIGITS && isDigit(json.charCodeAt(end))) end += 1
    if (end - start === LONG_DIGITS) return true
  }
  return false
}

const isDigit = (unit: number): boolean => unit >= 48 && unit <= 57

interface Range {
  readonly start: number
  readonly end: number
}

function findLongIntegers(json: string): readonly Range[] {
  const found: Range[] = []
  let quote = json.indexOf('"') // opens the first string that is not yet skipped
  longInteger.lastIndex = 0
  for (let match = longInteger.exec(json); match !== null; match = longInteger.exec(json)) {
    const end = longInteger.lastIndex
    while (quote >= 0 && quote < longInteger.lastIndex) {
      const stringEnd = endOfString(json, quote)
      quote = json.indexOf('"', stringEnd)
      longInteger.lastIndex = Math.max(longInteger.lastIndex, stringEnd)
    }
    if (longInteger.lastIndex > end) continue // the match is within a string
    const start = integerStart(json, match.index)
    if (start !== undefined && !isKey(json, end)) found.push({ start, end })
  }
  return found
}

function endOfString(json: string, open: number): number {
  for (let quote = json.indexOf('"', open + 1); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let backslashes = 0
    while (json.charAt(quote - 1 - backslashes) === '\\') backslashes++
    if (backslashes % 2 === 0) return quote + 1
  }
  return json.length + 1
}

/** Returns the offset of the integer, including its sign; `undefined` if the sign belongs to an exponent. */
function integerStart(json: string, matchStart: number): number | undefined {
  const first = json.charAt(matchStart)
  if (first !== '-') return first >= '1' && first <= '9' ? matchStart : matchStart + 1
  return matchStart === 0 || ':,[ \t\r\n'.includes(json.charAt(matchStart - 1)) ? matchStart : undefined
}

function isKey(json: string, after: number): boolean {
  keySeparator.lastIndex = after
  return keySeparator.test(json)
}

function longestNulRun(json: string): number {
  let longest = 0
  for (const [run] of json.matchAll(/"(?:\\u0000)+/g)) longest = Math.max(longest, (run.length - 1) / 6)
  return longest
}

function quoteIntegers(json: string, integers: readonly Range[], marker: string): string {
  let quoted = ''
  let copied = 0
  for (const { start, end } of integers) {
    quoted += `${json.slice(copied, start)}"${marker}${json.slice(start, end)}"`
    copied = end
  }
  return quoted + json.slice(copied)
}

function restoreIntegers(parsed: unknown, marker: string): unknown {
  const holder = { parsed }
  const open: object[] = [holder]
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    if (Array.isArray(container)) restoreItems(container, marker, open)
    else restoreFields(container as Record<string, unknown>, marker, open)
  }
  return holder.parsed
}

function restoreItems(list: unknown[], marker: string, open: object[]): void {
  for (let index = 0; index < list.length; index++) {
    const value = list[index]
    if (typeof value === 'object' && value !== null) open.push(value)
    else if (isMarked(value, marker)) list[index] = BigInt(value.slice(marker.length))
  }
}

function restoreFields(fields: Record<string, unknown>, marker: string, open: object[]): void {
  for (const key in fields) {
    const value = fields[key]
    if (typeof value === 'object' && value !== null) open.push(value)
    else if (isMarked(value, marker)) fields[key] = BigInt(value.slice(marker.length))
  }
}

function isMarked(value: unknown, marker: string): value is string {
  return typeof value === 'string' && value.startsWith(marker)
}

function syntaxError(json: string): RecordError {
  const offset = findSyntaxError(json)
  const before = json.slice(0, offset)
  const lineStart = before.lastIndexOf('\n') + 1
  const position = { line: before.split('\n').length, column: before.length - lineStart + 1 }
  return new RecordError('', offset < json.length ? 'is not valid JSON' : 'ends before the JSON is complete', position)
}
