import { createHash } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The largest multiple of 62 that a byte can hold: bytes from here on would favour the first letters. */
const FIRST_BIASED_BYTE = 248
/** 62^43 is just above 2^256. */
const SECRET_LETTERS = 43
/** Longer than any value we give or take; whatever is longer is unknown without having been hashed. */
const MAX_LENGTH = 256

/** A prefix, then 256 random bits in base62. */
export function newTokenText(prefix: string, randomBytes: (bytes: number) => Uint8Array): string {
  let secret = ''
  while (secret.length < SECRET_LETTERS) {
    for (const byte of randomBytes(SECRET_LETTERS + 8)) {
      if (byte < FIRST_BIASED_BYTE && secret.length < SECRET_LETTERS) secret += ALPHABET[byte % ALPHABET.length]
    }
  }
  return prefix + secret
}

/**
 * What is stored of a token, in hex, and what it is looked up by.
 *
 * A fast hash without salt is right here: 256 random bits cannot be guessed however fast one may try, no two are alike, and
 * a slow hash would be paid by every request. Looking up by digest, the time taken tells nothing of how much of a guess was
 * right: whoever does not know the token cannot choose the digest's first letters.
 */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** `undefined` for what cannot be a token. */
export const digestOfPresented = (text: string): string | undefined =>
  text === '' || text.length > MAX_LENGTH ? undefined : digestOf(text)
