import { MAX_INTEGER, MAX_SECONDS } from '../record/limits.ts'
import { RecordError } from '../record/record-error.ts'
import type { RunId } from '../record/run-id.ts'
import { type WarningList, warningLimit } from '../record/warnings.ts'
import { isEpoch, readDate } from './date.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/**
 * One JSON object of a payload, and its path.
 *
 * The readers below read a field by name. An unusable required field throws a `RecordError`. An unusable optional field
 * is read as absent and adds a warning; null and missing are read as absent without one. Paths are built only for
 * messages. Messages repeat no text of the payload except ids, dates and `object_kind`.
 */
export interface Fields {
  readonly values: JsonObject
  readonly parent: Fields | undefined
  /** The field of the parent that holds this object. */
  readonly key: string
  /** The index in that field if it is a list, else -1. */
  readonly index: number
  readonly warnings: WarningList
}

const decimalDigits = /^\d{1,19}$/
const integerDigits = /^[1-9]\d{0,18}$/
const decimal = /^\d{1,15}(?:\.\d{1,15})?$/

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function bodyFields(values: JsonObject, warnings: WarningList): Fields {
  return { values, parent: undefined, key: '', index: -1, warnings }
}

export function warn(fields: Fields, key: string, reason: string): void {
  const { warnings } = fields
  warnings.total++
  if (warnings.items.length < warningLimit) warnings.items.push({ path: pathOf(fields, key), reason })
}

export function refuse(fields: Fields, key: string, reason: string): never {
  throw new RecordError(pathOf(fields, key), reason)
}

/** Reads a text and returns it unchanged; a blank text is absent. */
export function text(fields: Fields, key: string): string | undefined {
  const value = fields.values[key]
  if (typeof value === 'string') return isBlank(value) ? undefined : value
  return absent(fields, key, value, 'a text')
}

export function requiredText(fields: Fields, key: string): string {
  const value = fields.values[key]
  if (typeof value === 'string' && !isBlank(value)) return value
  refuse(fields, key, `must be a text, got ${typeof value === 'string' ? 'a blank one' : jsonKind(value)}`)
}

/** Reads an integer above 0, given as number, BigInt or decimal digits. */
export function id(fields: Fields, key: string): bigint | undefined {
  const value = fields.values[key]
  if (value === null || value === undefined) return undefined
  const integer = toInteger(value)
  if (integer !== undefined && integer > 0n && integer <= MAX_INTEGER) return integer
  warn(fields, key, invalidIdReason(value, integer))
  return undefined
}

export function requiredId(fields: Fields, key: string): bigint {
  const value = fields.values[key]
  const integer = toInteger(value)
  if (integer !== undefined && integer > 0n && integer <= MAX_INTEGER) return integer
  refuse(fields, key, invalidIdReason(value, integer))
}

/** The maximum length of an id that is a text. */
const MAX_ID_LENGTH = 1_024

/**
 * Reads an id that is an integer above 0 or a text. A text with the digits of an integer is that integer, so that both spellings are
 * one id; others, such as `007`, are texts, so that different ids stay different.
 */
export function runId(fields: Fields, key: string): RunId | undefined {
  const value = fields.values[key]
  if (typeof value !== 'string') return id(fields, key)
  if (isBlank(value)) return undefined
  if (value.length <= MAX_ID_LENGTH) return toRunId(value.trim())
  warn(fields, key, tooLongId)
  return undefined
}

export function requiredRunId(fields: Fields, key: string): RunId {
  const value = fields.values[key]
  if (typeof value !== 'string' || isBlank(value)) return requiredId(fields, key)
  return value.length <= MAX_ID_LENGTH ? toRunId(value.trim()) : refuse(fields, key, tooLongId)
}

function toRunId(text: string): RunId {
  const integer = integerDigits.test(text) ? BigInt(text) : undefined
  return integer !== undefined && integer <= MAX_INTEGER ? integer : text
}

const tooLongId = `must have at most ${MAX_ID_LENGTH} characters`

/** Reads a size in bytes, from 0 to 2^63-1. */
export function byteSize(fields: Fields, key: string): bigint | undefined {
  const value = fields.values[key]
  const integer = toInteger(value)
  if (integer !== undefined && integer >= 0n && integer <= MAX_INTEGER) return integer
  return absent(fields, key, value, `an integer from 0 to ${MAX_INTEGER}`)
}

/** Reads an integer from 0 to 2^53-1. */
export function count(fields: Fields, key: string): number | undefined {
  const value = fields.values[key]
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
  return absent(fields, key, value, 'an integer, 0 or above')
}

export function seconds(fields: Fields, key: string): number | undefined {
  const value = fields.values[key]
  if (typeof value === 'number' && value >= 0 && value <= MAX_SECONDS) return value + 0 // -0 becomes 0
  return absent(fields, key, value, 'seconds, 0 or above')
}

/**
 * Reads a percentage, 0 or above, as a number or as decimal digits: REST writes the coverage of a pipeline as a text, and `glab`
 * writes a blank one if there is none.
 */
export function percent(fields: Fields, key: string): number | undefined {
  const given = fields.values[key]
  if (given === '') return undefined
  const value = typeof given === 'string' && decimal.test(given) ? Number(given) : given
  if (typeof value === 'number' && value >= 0 && Number.isFinite(value)) return value + 0
  return absent(fields, key, given, 'percent, 0 or above')
}

export function flag(fields: Fields, key: string): boolean | undefined {
  const value = fields.values[key]
  return typeof value === 'boolean' ? value : absent(fields, key, value, 'true or false')
}

/** Reads a date as nanoseconds since 1970. Times after 2262 are refused, because OTLP cannot represent them. */
export function date(fields: Fields, key: string): bigint | undefined {
  const value = fields.values[key]
  const timeNs = readDate(value)
  if (timeNs === 'absent') return undefined
  if (timeNs !== 'invalid' && timeNs <= MAX_INTEGER) return timeNs
  const got = typeof value === 'string' ? quoted(value) : jsonKind(value)
  warn(fields, key, `must be a date after 1970 and before 2262-04-11T23:47:17Z, got ${got}`)
  return undefined
}

/** Reads a date as `date` does, for forges that write 1970-01-01T00:00:00Z for a missing date. */
export function dateAfterEpoch(fields: Fields, key: string): bigint | undefined {
  return isEpoch(fields.values[key]) ? undefined : date(fields, key)
}

/** Reads a time in seconds since 1970 as nanoseconds; 0 is absent. A fraction is exact to the microsecond. */
export function unixSeconds(fields: Fields, key: string): bigint | undefined {
  return unixTime(fields, key, 1_000_000)
}

/** Reads a time in milliseconds since 1970 as nanoseconds; 0 is absent. A fraction is exact to the microsecond. */
export function unixMilliseconds(fields: Fields, key: string): bigint | undefined {
  return unixTime(fields, key, 1_000)
}

function unixTime(fields: Fields, key: string, microsecondsPerUnit: number): bigint | undefined {
  const value = fields.values[key]
  if (value === 0) return undefined
  const microseconds = typeof value === 'number' ? Math.round(value * microsecondsPerUnit) : 0
  if (microseconds > 0 && Number.isSafeInteger(microseconds)) {
    const timeNs = BigInt(microseconds) * 1_000n
    if (timeNs <= MAX_INTEGER) return timeNs
  }
  const unit = microsecondsPerUnit === 1_000 ? 'milliseconds' : 'seconds'
  return absent(fields, key, value, `${unit} since 1970, before 2262`)
}

/** Reads the texts of a list. Blank texts are dropped; items of other types are dropped with a warning. */
export function texts(fields: Fields, key: string): readonly string[] {
  const value = fields.values[key]
  if (!Array.isArray(value)) return absent(fields, key, value, 'a list of texts') ?? []
  const usable: string[] = []
  for (const [index, item] of value.entries()) {
    if (typeof item !== 'string') warn(fields, `${key}[${index}]`, `must be a text, got ${jsonKind(item)}`)
    else if (!isBlank(item)) usable.push(item)
  }
  return usable
}

export function section(fields: Fields, key: string): Fields | undefined {
  const value = fields.values[key]
  if (isObject(value)) return within(fields, key, -1, value)
  return absent(fields, key, value, 'an object')
}

export function requiredSection(fields: Fields, key: string): Fields {
  const value = fields.values[key]
  if (isObject(value)) return within(fields, key, -1, value)
  refuse(fields, key, `must be an object, got ${jsonKind(value)}`)
}

/** Reads the objects of a list; `undefined` if there is no list. An item that is not an object is refused. */
export function sections(fields: Fields, key: string): readonly Fields[] | undefined {
  const value = fields.values[key]
  if (!Array.isArray(value)) return absent(fields, key, value, 'a list')
  return value.map((item: unknown, index) => {
    if (!isObject(item)) refuse(fields, `${key}[${index}]`, `must be an object, got ${jsonKind(item)}`)
    return within(fields, key, index, item)
  })
}

/** Returns the first object of a list that `matches`. Items of other types are ignored. */
export function sectionWhere(fields: Fields, key: string, matches: (item: JsonObject) => boolean): Fields | undefined {
  const value = fields.values[key]
  if (!Array.isArray(value)) return undefined
  const index = value.findIndex((item) => isObject(item) && matches(item))
  return index < 0 ? undefined : within(fields, key, index, value[index])
}

function within(fields: Fields, key: string, index: number, values: JsonObject): Fields {
  return { values, parent: fields, key, index, warnings: fields.warnings }
}

/** Returns a description of a value for messages. The contents of a text are not part of it. */
export function jsonKind(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return 'a text'
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object'
  return shortened(String(value))
}

/** Returns a text in quotes, on one line and at most 40 characters long. */
export function quoted(value: string): string {
  return shortened(JSON.stringify(value.slice(0, 40)))
}

function shortened(value: string): string {
  return value.length <= 40 ? value : `${value.slice(0, 39)}…`
}

function isBlank(value: string): boolean {
  const first = value.charCodeAt(0)
  return !(first > 32 && first < 127) && !/[^\s\0]/.test(value) // the first comparison is cheap and nearly always decides
}

function toInteger(value: unknown): bigint | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : undefined
  if (typeof value === 'bigint') return value
  return typeof value === 'string' && decimalDigits.test(value) ? BigInt(value) : undefined
}

function invalidIdReason(value: unknown, integer: bigint | undefined): string {
  const got = typeof value === 'string' ? quoted(value) : jsonKind(value)
  if (integer !== undefined && integer > MAX_INTEGER) return `must be at most ${MAX_INTEGER}, got ${got}`
  if (Number.isInteger(value) && (value as number) > 0 && integer === undefined) {
    return `must be exact, but ${got} is beyond 2^53 and has already been rounded`
  }
  return `must be an integer above 0, got ${got}`
}

function absent(fields: Fields, key: string, value: unknown, expected: string): undefined {
  if (value !== null && value !== undefined) warn(fields, key, `must be ${expected}, got ${jsonKind(value)}`)
  return undefined
}

function pathOf(fields: Fields, key: string): string {
  const steps = key === '' ? [] : [key]
  for (let at: Fields | undefined = fields; at?.parent !== undefined; at = at.parent) {
    steps.unshift(at.index < 0 ? at.key : `${at.key}[${at.index}]`)
  }
  return steps.join('.')
}
