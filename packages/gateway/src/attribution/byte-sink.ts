import { BodyRefused } from '../wire/body-refused.ts'

/** Collects the bytes of a rewritten body. Throws `BodyRefused` if they exceed `maxBytes`. */
export class ByteSink {
  readonly #maxBytes: number
  #buffer: Buffer
  #length = 0

  constructor(expectedBytes: number, maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#buffer = Buffer.allocUnsafe(Math.min(expectedBytes, maxBytes))
  }

  append(bytes: Uint8Array, start = 0, end = bytes.length): void {
    this.#reserve(end - start)
    if (end - start < 64) for (let at = start; at < end; at += 1) this.#buffer[this.#length + at - start] = bytes[at]!
    else this.#buffer.set(bytes.subarray(start, end), this.#length)
    this.#length += end - start
  }

  /** Appends a protobuf varint. `value` must be a safe integer, 0 or above. */
  varint(value: number): void {
    this.#reserve(varintBytes(value))
    let rest = value
    while (rest >= 0x80) {
      this.#buffer[this.#length] = (rest % 0x80) + 0x80
      this.#length += 1
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[this.#length] = rest
    this.#length += 1
  }

  /** Returns the collected bytes without copying them; do not append afterwards. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes
    if (needed <= this.#buffer.length) return
    if (needed > this.#maxBytes) {
      throw new BodyRefused('body_too_large', 'The body exceeds the size limit once the token attributes are added.')
    }
    const grown = Buffer.allocUnsafe(Math.max(needed, Math.min(this.#buffer.length * 2, this.#maxBytes)))
    grown.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = grown
  }
}

export function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes += 1
  return bytes
}
