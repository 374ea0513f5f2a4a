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

/** Other than `decodeURIComponent` it takes a `%` that begins no escape as it is. */
function decoded(text: string): string {
  const spaced = text.replaceAll('+', ' ')
  if (!spaced.includes('%')) return spaced
  const escaped = Buffer.from(spaced)
  const bytes = Buffer.alloc(escaped.length)
  let length = 0
  for (let at = 0; at < escaped.length; at++) {
    const hex = escaped[at] === 0x25 ? escaped.toString('latin1', at + 1, at + 3) : ''
    const isEscape = /^[0-9a-f]{2}$/i.test(hex)
    bytes[length++] = isEscape ? Number.parseInt(hex, 16) : escaped[at]!
    if (isEscape) at += 2
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
