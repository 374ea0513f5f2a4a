import { refuse } from '../bytes/decode-error.ts'
import type { DecodeBudget } from '../bytes/decode-limits.ts'
import { WireType } from './protobuf-writer.ts'

const TWO_TO_28 = 0x1000_0000
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads a protobuf message from start to end, and refuses invalid bytes. */
export class ProtobufReader {
  readonly budget: DecodeBudget
  readonly #bytes: Buffer
  readonly #view: DataView
  position = 0
  /** The end of the innermost open message. */
  end: number

  constructor(bytes: Uint8Array, budget: DecodeBudget) {
    this.budget = budget
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    this.end = bytes.length
  }

  /** Consumes the next `bytes` and returns their offset. */
  #take(bytes: number): number {
    const at = this.position
    if (bytes > this.end - at) refuse('ends in the middle of a field')
    this.position = at + bytes
    return at
  }

  #byte(): number {
    return this.#bytes[this.#take(1)] as number
  }

  /** Reads the field number, which is at least 1, and the wire type of the next field. */
  tag(): number {
    const tag = this.varint()
    if (tag > 0xffff_ffff || tag < 8) refuse('not a protobuf field')
    return tag
  }

  /** Reads a varint as a number. It is exact up to 2^53, and only approximate above. */
  varint(): number {
    const first = this.#byte()
    if (first < 0x80) return first
    let value = first & 0x7f
    let factor = 0x80
    for (let index = 1; index < 10; index += 1) {
      const byte = this.#byte()
      if (index === 9 && byte > 1) break
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
      factor *= 0x80
    }
    return refuse('varint longer than 64 bits')
  }

  /** Reads a varint as an unsigned 64-bit integer. */
  varint64(): bigint {
    const start = this.position
    const value = this.varint()
    if (value <= Number.MAX_SAFE_INTEGER) return BigInt(value)
    let exact = 0n
    for (let at = this.position - 1; at >= start; at -= 1) {
      exact = (exact << 7n) | BigInt((this.#bytes[at] as number) & 0x7f)
    }
    return exact
  }

  /** Reads the low 32 bits of a varint, unsigned. Protobuf truncates a longer varint in a 32-bit field in the same way. */
  varint32(): number {
    const start = this.position
    const value = this.varint()
    if (value <= 0xffff_ffff) return value
    let low = 0
    for (let index = 0; index < 4; index += 1) low += ((this.#bytes[start + index] as number) & 0x7f) * 0x80 ** index
    return low + ((this.#bytes[start + 4] as number) & 0x0f) * TWO_TO_28
  }

  fixed32(): number {
    return this.#view.getUint32(this.#take(4), true)
  }

  fixed64(): bigint {
    return this.#view.getBigUint64(this.#take(8), true)
  }

  sfixed64(): bigint {
    return this.#view.getBigInt64(this.#take(8), true)
  }

  double(): number {
    return this.#view.getFloat64(this.#take(8), true)
  }

  text(): string {
    const length = this.length()
    const at = this.#take(length)
    const bytes = this.#bytes
    for (let index = at; index < this.position; index += 1) {
      if ((bytes[index] as number) >= 0x80) return decodeUtf8(bytes.subarray(at, this.position))
    }
    return bytes.toString('latin1', at, this.position)
  }

  /** Reads bytes as a copy, so that the model does not keep the body in memory. */
  bytes(): Uint8Array {
    const length = this.length()
    const at = this.#take(length)
    return new Uint8Array(this.#bytes.subarray(at, this.position))
  }

  /** Reads an id of `byteCount` bytes as hex digits; '' for an empty id. */
  id(byteCount: number): string {
    const length = this.length()
    if (length !== 0 && length !== byteCount) refuse(`${length} bytes long instead of ${byteCount}`)
    const at = this.#take(length)
    return this.#bytes.toString('hex', at, this.position)
  }

  length(): number {
    const length = this.varint()
    if (length > this.end - this.position) refuse('longer than the message that holds it')
    return length
  }

  /** Enters a length-delimited field. Pass the result to `leave`. */
  enter(): number {
    const outerEnd = this.end
    const length = this.length()
    this.end = this.position + length
    return outerEnd
  }

  leave(outerEnd: number): void {
    this.end = outerEnd
  }

  requireWireType(actual: number, expected: WireType): void {
    if (actual !== expected) refuse(`wire type ${actual} where ${expected} belongs`)
  }

  /** Skips the value of an unknown field. */
  skip(wireType: number): void {
    switch (wireType) {
      case WireType.VARINT:
        this.varint()
        return
      case WireType.FIXED64:
        this.#take(8)
        return
      case WireType.LENGTH_DELIMITED:
        this.#take(this.length())
        return
      case WireType.FIXED32:
        this.#take(4)
        return
      default:
        refuse(`wire type ${wireType} does not occur in OTLP`)
    }
  }
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    return refuse('not valid UTF-8')
  }
}
