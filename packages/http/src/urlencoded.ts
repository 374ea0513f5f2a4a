import { MalformedForm } from './malformed-form.ts'

/** Of a query or a form. */
export const MAX_FORM_ENTRIES = 1_000

/**
 * The entries of a query (without its `?`) or of an application/x-www-form-urlencoded body, in their order.
 *
 * @throws MalformedForm for what is no UTF-8 when decoded, and above MAX_FORM_ENTRIES
 */
export function urlEncodedEntries(text: string): (readonly [name: string, value: string])[] {
  const entries: (readonly [name: string, value: string])[] = []
  for (let start = 0; start < text.length; ) {
    const next = text.indexOf('&', start)
    const end = next === -1 ? text.length : next
    if (end > start) {
      if (entries.length === MAX_FORM_ENTRIES) throw new MalformedForm('too many parameters')
      entries.push(entryOf(text.slice(start, end)))
    }
    start = end + 1
  }
  return entries
}

function entryOf(part: string): readonly [name: string, value: string] {
  const equals = part.indexOf('=')
  return equals === -1 ? [decoded(part), ''] : [decoded(part.slice(0, equals)), decoded(part.slice(equals + 1))]
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The value of a hexadecimal digit by its byte; -1 for other bytes. */
const hexDigits = new Int8Array(256).fill(-1)
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  hexDigits[digit.charCodeAt(0)] = value
  hexDigits[digit.toUpperCase().charCodeAt(0)] = value
}

/** Returns the decoded text. Unlike `decodeURIComponent`, leaves a `%` that begins no escape unchanged. */
function decoded(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  const bytes = Buffer.from(spaced)
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    const high = byte === 0x25 ? hexDigits[bytes[at + 1] ?? 0]! : -1
    const low = high === -1 ? -1 : hexDigits[bytes[at + 2] ?? 0]!
    // Decodes in place: the write position never passes the read position.
    bytes[length++] = low === -1 ? byte : high * 16 + low
    if (low !== -1) at += 2
  }
  return utf8Text(bytes.subarray(0, length))
}

/** @throws MalformedForm */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new MalformedForm('not UTF-8')
  }
}
