import { crc32 } from 'node:zlib'

/** T-1, T-2. Written down a second time on purpose: the load must not depend on what it loads. */
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const ID_LENGTH = 12
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6

/** Uniform in [0, 1), the same from the same seed: load that can be repeated, at the price of a few multiplications. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function base62(length: number, random: () => number): string {
  let text = ''
  for (let at = 0; at < length; at += 1) text += ALPHABET[Math.floor(random() * ALPHABET.length)]
  return text
}

export const newTokenId = (random: () => number): string => base62(ID_LENGTH, random)

/** A token of this id with a secret drawn now, and the checksum that belongs to it. */
export function newTokenText(id: string, random: () => number): string {
  const body = `psin_${id}_${base62(SECRET_LENGTH, random)}`
  return body + checksum(crc32(body))
}

function checksum(crc: number): string {
  let text = ''
  for (let rest = crc; rest > 0; rest = Math.floor(rest / ALPHABET.length))
    text = ALPHABET[rest % ALPHABET.length] + text
  return text.padStart(CHECKSUM_LENGTH, '0')
}
