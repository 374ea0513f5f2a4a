import { CachingWriter } from '../bytes/caching-writer.ts'
import { writeHexBytes } from '../bytes/hex.ts'

/** The protobuf wire types in OTLP. OTLP has no groups (3 and 4); 6 and 7 do not exist. */
export const WireType = { VARINT: 0, FIXED64: 1, LENGTH_DELIMITED: 2, FIXED32: 5 } as const
export type WireType = (typeof WireType)[keyof typeof WireType]

export function toTag(fieldNumber: number, wireType: WireType): number {
  return (fieldNumber << 3) | wireType
}

/** The number of UTF-16 units from which the native UTF-8 writer is faster than a loop over units. */
const NATIVE_UTF8_FROM = 80
const TWO_TO_28 = 0x1000_0000

/** Writes protobuf in reverse: for each field the value, then the length, then the tag. */
export class ProtobufWriter extends CachingWriter {
  /** Writes a varint. `value` is a safe integer, 0 or above. */
  varint(value: number): void {
    this.reserve(8)
    this.start = varintBefore(this.buffer, this.start, value)
  }

  tag(tag: number): void {
    if (tag >= 0x80) {
      this.varint(tag)
    } else {
      this.byte(tag)
    }
  }

  /** Writes tag and length of a sub-message. `writtenBefore` is the value of `written` before the sub-message was written. */
  closeMessage(tag: number, writtenBefore: number): void {
    this.varint(this.written - writtenBefore)
    this.tag(tag)
  }

  varint64(value: bigint): void {
    this.reserve(10)
    this.start = varint64Before(this.buffer, this.start, value)
  }

  fixed32(value: number): void {
    this.reserve(4)
    this.start -= 4
    this.view.setUint32(this.start, value, true)
  }

  fixed64(value: bigint): void {
    this.reserve(8)
    this.start -= 8
    this.view.setBigUint64(this.start, value, true)
  }

  double(value: number): void {
    this.reserve(8)
    this.start -= 8
    this.view.setFloat64(this.start, value, true)
  }

  /** Writes a text as UTF-8, preceded by its length. A lone surrogate is written as U+FFFD. */
  text(text: string): void {
    this.reserve(text.length * 3 + 5)
    const end = this.start
    const start = utf8Before(this.buffer, end, text)
    this.start = varintBefore(this.buffer, start, end - start)
  }

  /** Writes bytes, preceded by their length. */
  lengthDelimited(bytes: Uint8Array): void {
    this.raw(bytes)
    this.varint(bytes.length)
  }

  /** Writes an id, preceded by its length. `digits` are `byteCount` bytes as lower-case hex. */
  id(digits: string, byteCount: number): void {
    this.reserve(byteCount + 1)
    this.start -= byteCount
    writeHexBytes(digits, byteCount, this.buffer, this.start)
    this.varint(byteCount)
  }
}

/** Writes a varint that ends at `end`, and returns its start. `value` is a safe integer, 0 or above. */
export function varintBefore(buffer: Buffer, end: number, value: number): number {
  let at = end
  if (value < 0x80) {
    buffer[--at] = value
    return at
  }
  if (value >= TWO_TO_28) {
    const high = Math.floor(value / TWO_TO_28)
    return splitVarintBefore(buffer, end, high, value - high * TWO_TO_28)
  }
  let shift = value < 0x4000 ? 7 : value < 0x20_0000 ? 14 : 21
  buffer[--at] = value >>> shift
  while (shift > 0) {
    shift -= 7
    buffer[--at] = ((value >>> shift) & 0x7f) | 0x80
  }
  return at
}

/** Returns the length of a varint. */
export function varintBytes(value: number): number {
  let bytes = 1
  for (let limit = 0x80; value >= limit; limit *= 0x80) bytes += 1
  return bytes
}

/** Writes the varint of an int64 or a uint64 that ends at `end`, and returns its start. A negative one takes ten bytes. */
export function varint64Before(buffer: Buffer, end: number, value: bigint): number {
  const asNumber = Number(value)
  if (asNumber >= 0 && asNumber <= Number.MAX_SAFE_INTEGER) return varintBefore(buffer, end, asNumber)
  const unsigned = BigInt.asUintN(64, value)
  return splitVarintBefore(buffer, end, Number(unsigned >> 28n), Number(unsigned & 0xfff_ffffn))
}

/** Writes the varint of `high` · 2²⁸ + `low`. */
function splitVarintBefore(buffer: Buffer, end: number, high: number, low: number): number {
  let at = varintBefore(buffer, end, high)
  for (let shift = 21; shift >= 0; shift -= 7) buffer[--at] = ((low >>> shift) & 0x7f) | 0x80
  return at
}

/** Writes UTF-8 that ends at `end`, and returns its start. It needs room for three bytes per unit of `text`. */
export function utf8Before(buffer: Buffer, end: number, text: string): number {
  if (text.length >= NATIVE_UTF8_FROM) {
    const start = end - Buffer.byteLength(text)
    buffer.write(text, start)
    return start
  }
  let at = end
  for (let index = text.length - 1; index >= 0; index -= 1) {
    const unit = text.charCodeAt(index)
    if (unit < 0x80) {
      buffer[--at] = unit
    } else if (unit < 0x800) {
      buffer[--at] = (unit & 0x3f) | 0x80
      buffer[--at] = (unit >>> 6) | 0xc0
    } else if (isLowSurrogate(unit) && index > 0 && isHighSurrogate(text.charCodeAt(index - 1))) {
      index -= 1
      const codePoint = 0x10000 + ((text.charCodeAt(index) & 0x3ff) << 10) + (unit & 0x3ff)
      buffer[--at] = (codePoint & 0x3f) | 0x80
      buffer[--at] = ((codePoint >>> 6) & 0x3f) | 0x80
      buffer[--at] = ((codePoint >>> 12) & 0x3f) | 0x80
      buffer[--at] = (codePoint >>> 18) | 0xf0
    } else {
      const wellFormed = isLowSurrogate(unit) || isHighSurrogate(unit) ? 0xfffd : unit
      buffer[--at] = (wellFormed & 0x3f) | 0x80
      buffer[--at] = ((wellFormed >>> 6) & 0x3f) | 0x80
      buffer[--at] = (wellFormed >>> 12) | 0xe0
    }
  }
  return at
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000
}
