import { MalformedForm } from './malformed-form.ts'

/** The maximum number of entries in a query or a form. */
export const MAX_FORM_ENTRIES = 1_000

/**
 * Parses a query (without its `?`) or an application/x-www-form-urlencoded body, and returns its entries in order.
 *
 * @throws MalformedForm if the decoded text is not UTF-8, or if there are more than MAX_FORM_ENTRIES
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

/** Maps the byte of a hexadecimal digit to its value, and other bytes to -1. */
const hexDigits = new Int8Array(256).fill(-1)
for (const [value, digit] of [...'0123456789abcdef'].entries()) {
  hexDigits[digit.charCodeAt(0)] = value
  hexDigits[digit.toUpperCase().charCodeAt(0)] = value
}

/** Decodes `+` and percent escapes. Unlike `decodeURIComponent`, it keeps a `%` that does not begin a valid escape. */
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

/** Decodes UTF-8. @throws MalformedForm for invalid UTF-8 */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new MalformedForm('not UTF-8')
  }
}
