import { refuse } from './decode-error.ts'

const needsNoEscape = /^[ !#-[\]-~]*$/

/** A JSON string; a lone surrogate becomes U+FFFD, as it does in UTF-8. */
export function textOf(text: string): string {
  return needsNoEscape.test(text) ? `"${text}"` : JSON.stringify(text.toWellFormed())
}

/** A double as proto3 JSON writes it: a number, or one of three words in quotes. */
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

/** A number, a decimal string or one of the words; a number too large for a double is refused, not rounded to Infinity. */
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

/** A 64-bit integer: a decimal string, or a number without a fraction. */
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

/** A 32-bit integer: a number without a fraction, or a decimal string. */
export function integerFromJson(json: unknown, range: Range<number>): number {
  if (!isIntegerText(json)) return enumFromJson(json, range)
  return enumFromJson(Number(json), range)
}

/** An enum: its number. OTLP/JSON forbids the names. */
export function enumFromJson(json: unknown, { min, max }: Range<number>): number {
  if (typeof json !== 'number' || !Number.isInteger(json)) return refuse('must be an integer')
  if (json < min || json > max) return refuse('out of range')
  // -0 is an integer too
  return json + 0
}

/** Standard or URL-safe alphabet, with or without padding, as proto3 JSON accepts; nothing else in between. */
export function bytesFromJson(json: unknown): Uint8Array {
  if (typeof json !== 'string') return refuse('must be a base64 string')
  const bytes = Buffer.from(json, 'base64')
  const canonical = bytes.toString('base64')
  const given = json.replaceAll('-', '+').replaceAll('_', '/')
  if (given !== canonical && given !== canonical.replace(/=+$/, '')) return refuse('must be a base64 string')
  return new Uint8Array(bytes)
}

export function bytesText(bytes: Uint8Array): string {
  return `"${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64')}"`
}
