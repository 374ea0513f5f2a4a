import { crc32 } from 'node:zlib'

// T-1, T-2. The token format is repeated here, so that the load does not depend on the code under load.
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const ID_LENGTH = 12
const SECRET_LENGTH = 43
const CHECKSUM_LENGTH = 6

/** Returns a generator of uniform numbers in [0, 1). The same seed results in the same numbers, so that a load can be repeated. */
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

/** Returns a token with this id, a random secret and the matching checksum. */
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
