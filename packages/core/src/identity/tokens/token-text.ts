import { createHash } from 'node:crypto'

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** The largest multiple of 62 that a byte can hold: bytes from here on would favour the first letters. */
const FIRST_BIASED_BYTE = 248
/** 62^43 is just above 2^256. */
const SECRET_LETTERS = 43
/** The maximum length of a value that may be a token. Longer values are rejected without hashing them. */
const MAX_LENGTH = 256

/** Returns a new token: a prefix and 256 random bits in base62. */
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
 * Returns the digest of a token in hex, which is stored and used for lookups.
 *
 * A fast hash without salt is sufficient: 256 random bits cannot be guessed at any speed, no two tokens are equal, and every
 * request would pay for a slow hash. The time of a lookup by digest does not reveal how much of a guess was right, because
 * attackers cannot choose the first letters of a digest without knowing the token.
 */
export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Returns the digest of a value in a request; `undefined` if the value cannot be a token. */
export const digestOfPresented = (text: string): string | undefined =>
  text === '' || text.length > MAX_LENGTH ? undefined : digestOf(text)
