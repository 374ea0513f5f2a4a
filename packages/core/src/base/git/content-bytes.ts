import { setImmediate as nextTurn } from 'node:timers/promises'

/** The characters that one turn of the event loop encodes or decodes. A multiple of four. */
export const CHARACTERS_PER_TURN = 256 * 1024

/** Yields a text in slices, one in each turn of the event loop. */
async function* slicesOf(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; ) {
    if (at > 0) await nextTurn()
    let end = Math.min(at + CHARACTERS_PER_TURN, text.length)
    // Both halves of a character beyond the basic plane belong to one slice.
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end += 1
    yield text.slice(at, end)
    at = end
  }
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff

/** Returns the bytes of a text, however long it is, without blocking the event loop. */
export async function utf8Bytes(text: string): Promise<Uint8Array> {
  if (text.length <= CHARACTERS_PER_TURN) return Buffer.from(text)
  const bytes = Buffer.allocUnsafe(Buffer.byteLength(text))
  let at = 0
  for await (const slice of slicesOf(text)) at += bytes.write(slice, at)
  return bytes
}

/**
 * Decodes base64 in either alphabet, ignoring white space, without blocking the event loop; `undefined` for anything
 * else.
 */
export async function base64Bytes(text: string): Promise<Uint8Array | undefined> {
  const parts: Buffer[] = []
  /** The characters that the slices so far have left over, less than four unless they end the text. */
  let left = ''
  for await (const slice of slicesOf(text)) {
    const compact = left + slice.replace(/\s/g, '')
    if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(compact)) return undefined
    // After a padding, no other character may come.
    const whole = compact.endsWith('=') ? 0 : compact.length - (compact.length % 4)
    parts.push(Buffer.from(compact.slice(0, whole), 'base64'))
    left = compact.slice(whole)
  }
  return Buffer.concat([...parts, Buffer.from(left, 'base64')])
}
