import { refuse } from '../bytes/decode-error.ts'

/** Returns the proto3 JSON text of a double: a number, or "NaN", "Infinity" or "-Infinity" in quotes. */
export function doubleText(value: number): string {
  if (!Number.isFinite(value)) return `"${value}"`
  return Object.is(value, -0) ? '-0' : String(value)
}

export function stringFromJson(json: unknown): string {
  return typeof json === 'string' ? json.toWellFormed() : refuse('must be a string')
}

const decimal = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/
const doubleWords: Readonly<Record<string, number>> = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
}

/** Reads a double from a number, a decimal string or a word. A number that is too large is refused, not rounded to Infinity. */
export function doubleFromJson(json: unknown): number {
  if (typeof json === 'string' && Object.hasOwn(doubleWords, json)) return doubleWords[json] as number
  const value = typeof json === 'string' && decimal.test(json) ? Number(json) : json
  if (typeof value !== 'number') return refuse('must be a number, "NaN", "Infinity" or "-Infinity"')
  return Number.isFinite(value) ? value : refuse('too large for a double')
}

export interface Range<N> {
  readonly min: N
  readonly max: N
}

const integer = /^-?(0|[1-9]\d*)$/
const INT64_DIGITS = 20

/** Reads a 64-bit integer from a decimal string or a number without a fraction. */
export function longFromJson(json: unknown, { min, max }: Range<bigint>): bigint {
  if (typeof json === 'number' ? !Number.isInteger(json) : !isIntegerText(json)) {
    return refuse('must be an integer or a decimal string')
  }
  const value = BigInt(json as number | string)
  return value >= min && value <= max ? value : refuse('out of range')
}

function isIntegerText(json: unknown): boolean {
  return typeof json === 'string' && json.length <= INT64_DIGITS && integer.test(json)
}

/** Reads a 32-bit integer from a number without a fraction or a decimal string. */
export function integerFromJson(json: unknown, range: Range<number>): number {
  if (!isIntegerText(json)) return enumFromJson(json, range)
  return enumFromJson(Number(json), range)
}

/** Reads an enum from its number. OTLP/JSON forbids names. */
export function enumFromJson(json: unknown, { min, max }: Range<number>): number {
  if (typeof json !== 'number' || !Number.isInteger(json)) return refuse('must be an integer')
  if (json < min || json > max) return refuse('out of range')
  // -0 becomes 0
  return json + 0
}

/** Reads base64 in the standard or URL-safe alphabet, with or without padding, as in proto3 JSON. Other characters are refused. */
export function bytesFromJson(json: unknown): Uint8Array {
  if (typeof json !== 'string') return refuse('must be a base64 string')
  const bytes = Buffer.from(json, 'base64')
  const canonical = bytes.toString('base64')
  const given = json.replaceAll('-', '+').replaceAll('_', '/')
  if (given !== canonical && given !== canonical.replace(/=+$/, '')) return refuse('must be a base64 string')
  return new Uint8Array(bytes)
}

/** Returns bytes as base64 in quotes. */
export function bytesText(bytes: Uint8Array): string {
  return `"${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')}"`
}
