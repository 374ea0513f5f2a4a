import { AttributeBlocks } from './attribute-blocks.ts'
import { bytesOfHex } from './hex.ts'
import { LastList } from './protobuf-last-list.ts'
import { LastMember } from './protobuf-last-member.ts'

/** Protobuf wire types that OTLP uses. 3 and 4 (groups) it never does; 6 and 7 do not exist. */
export const WireType = { VARINT: 0, FIXED64: 1, LENGTH_DELIMITED: 2, FIXED32: 5 } as const
export type WireType = (typeof WireType)[keyof typeof WireType]

export function tagOf(fieldNumber: number, wireType: WireType): number {
  return (fieldNumber << 3) | wireType
}

const INITIAL_BYTES = 16 * 1024
const MAX_KEPT_BYTES = 4 * 1024 * 1024
/** From this many UTF-16 units on, the native UTF-8 writer beats a loop over units. */
const NATIVE_UTF8_FROM = 80
const TWO_TO_28 = 0x1000_0000

/**
 * A buffer filled from its end, so that the length of a sub-message is known when its prefix is due:
 *
 *     0            start                    buffer.length
 *     | free ...   | written, newest first  |
 *
 * Everything is therefore written in reverse: last field first, and of each field the value, then the length, then the
 * tag. `written` counts from the end and survives growth; absolute offsets do not.
 */
export class ProtobufWriter {
  buffer: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  view: DataView = new DataView(this.buffer.buffer)
  /** What has been written of attributes before, by this writer. */
  readonly blocks = new AttributeBlocks()
  readonly lastList = new LastList()
  readonly lastMember = new LastMember()
  /** Offset of the newest byte. */
  start: number = INITIAL_BYTES

  get written(): number {
    return this.buffer.length - this.start
  }

  /** Starts afresh. The buffer is kept, unless something unusually long has been in it. */
  reset(): void {
    if (this.buffer.length > MAX_KEPT_BYTES) this.#use(Buffer.allocUnsafeSlow(INITIAL_BYTES))
    this.start = this.buffer.length
  }

  /** The written bytes, valid until the next write. */
  bytesView(): Uint8Array {
    return this.bytesBetween(this.start, this.buffer.length)
  }

  bytesBetween(start: number, end: number): Uint8Array {
    return new Uint8Array(this.buffer.buffer, start, end - start)
  }

  /** Makes room for `bytes` more; hot code calls this once and then writes to `buffer` itself. */
  reserve(bytes: number): void {
    if (this.start >= bytes) return
    const { written } = this
    const grown = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, written + bytes))
    const start = grown.length - written
    this.buffer.copy(grown, start, this.start)
    this.#use(grown)
    this.start = start
  }

  #use(buffer: Buffer): void {
    this.buffer = buffer
    this.view = new DataView(buffer.buffer)
  }

  /** `value`: a safe integer, 0 or above. */
  varint(value: number): void {
    this.reserve(8)
    this.start = varintBefore(this.buffer, this.start, value)
  }

  tag(tag: number): void {
    if (tag >= 0x80) {
      this.varint(tag)
    } else {
      this.reserve(1)
      this.buffer[--this.start] = tag
    }
  }

  /** The prefix of a sub-message: `written` was `writtenBefore` when its last byte was due. */
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

  /** UTF-8 with its length in front; a lone surrogate is written as U+FFFD. */
  text(text: string): void {
    this.reserve(text.length * 3 + 5)
    const end = this.start
    const start = utf8Before(this.buffer, end, text)
    this.start = varintBefore(this.buffer, start, end - start)
  }

  /** Bytes with their length in front. */
  lengthDelimited(bytes: Uint8Array): void {
    this.raw(bytes)
    this.varint(bytes.length)
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.start -= bytes.length
    this.buffer.set(bytes, this.start)
  }

  /** An id with its length in front. `digits`: lower-case hex, `byteCount` bytes of it. */
  id(digits: string, byteCount: number): void {
    this.reserve(byteCount + 1)
    this.start -= byteCount
    bytesOfHex(digits, byteCount, this.buffer, this.start)
    this.varint(byteCount)
  }
}

/** Writes the varint that ends at `end`; returns where it starts. `value` is a safe integer, 0 or above. */
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

/** Length of a varint. */
export function varintBytes(value: number): number {
  let bytes = 1
  for (let limit = 0x80; value >= limit; limit *= 0x80) bytes += 1
  return bytes
}

/** `value`: an int64 or a uint64; a negative one takes ten bytes, as protobuf prescribes. */
export function varint64Before(buffer: Buffer, end: number, value: bigint): number {
  const asNumber = Number(value)
  if (asNumber >= 0 && asNumber <= Number.MAX_SAFE_INTEGER) return varintBefore(buffer, end, asNumber)
  const unsigned = BigInt.asUintN(64, value)
  return splitVarintBefore(buffer, end, Number(unsigned >> 28n), Number(unsigned & 0xfff_ffffn))
}

/** The varint of `high` · 2²⁸ + `low`. */
function splitVarintBefore(buffer: Buffer, end: number, high: number, low: number): number {
  let at = varintBefore(buffer, end, high)
  for (let shift = 21; shift >= 0; shift -= 7) buffer[--at] = ((low >>> shift) & 0x7f) | 0x80
  return at
}

/** Writes the UTF-8 that ends at `end`; returns where it starts. Needs room for three bytes per unit of `text`. */
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
