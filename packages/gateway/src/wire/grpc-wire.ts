/** The length of the prefix of each message: compressed flag (1 byte) and length (4 bytes, big endian). */
export const PREFIX_BYTES = 5

export function framePrefix(messageBytes: number, isCompressed: boolean): Buffer {
  const prefix = Buffer.allocUnsafe(PREFIX_BYTES)
  prefix[0] = isCompressed ? 1 : 0
  prefix.writeUInt32BE(messageBytes, 1)
  return prefix
}

/** Returns the frame of a message, prefix and message in one buffer. */
export function frame(message: Uint8Array, isCompressed: boolean): Buffer {
  const framed = Buffer.allocUnsafe(PREFIX_BYTES + message.length)
  framed[0] = isCompressed ? 1 : 0
  framed.writeUInt32BE(message.length, 1)
  framed.set(message, PREFIX_BYTES)
  return framed
}

const utf8 = new TextDecoder()

/**
 * Percent-encodes a text for `grpc-message`: every byte of its UTF-8 except printable ASCII other than `%` becomes
 * `%XX`.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#responses
 */
export function encodeGrpcMessage(text: string): string {
  if (isPlain(text)) return text
  let encoded = ''
  for (const byte of Buffer.from(text)) {
    encoded += isPlainByte(byte) ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return encoded
}

/** Decodes a `grpc-message`. Never fails: invalid escapes are kept unchanged. */
export function decodeGrpcMessage(text: string): string {
  if (!text.includes('%')) return text
  const bytes: number[] = []
  for (let i = 0; i < text.length; i++) {
    const escaped = text[i] === '%' ? text.slice(i + 1, i + 3) : ''
    if (/^[0-9a-f]{2}$/i.test(escaped)) {
      bytes.push(Number.parseInt(escaped, 16))
      i += 2
    } else {
      bytes.push(text.charCodeAt(i) & 0xff)
    }
  }
  return utf8.decode(Uint8Array.from(bytes))
}

function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (!isPlainByte(text.charCodeAt(i))) return false
  return true
}

function isPlainByte(code: number): boolean {
  return code >= 0x20 && code <= 0x7e && code !== 0x25
}

const msPerUnit: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 }

/** Returns `grpc-timeout` in milliseconds, not rounded; `undefined` if it is not up to 8 digits and a unit. */
export function parseGrpcTimeout(text: string): number | undefined {
  const perUnit = msPerUnit[text.at(-1) ?? '']
  const digits = text.length - 1
  if (perUnit === undefined || digits < 1 || digits > 8) return undefined
  let amount = 0
  for (let i = 0; i < digits; i++) {
    const digit = text.charCodeAt(i) - 0x30
    if (digit < 0 || digit > 9) return undefined
    amount = amount * 10 + digit
  }
  return amount * perUnit
}

/** Returns the value of `grpc-timeout`, at least one millisecond. */
export function formatGrpcTimeout(ms: number): string {
  const whole = Math.max(1, Math.floor(ms))
  return whole <= 99_999_999 ? `${whole}m` : `${Math.min(99_999_999, Math.floor(whole / 1_000))}S`
}
