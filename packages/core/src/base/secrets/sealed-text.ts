import { createCipheriv, createDecipheriv } from 'node:crypto'

export const SECRETS_KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const PREFIX = 'v1.'

/** Thrown if the key is wrong, or the text was sealed for another place. */
export class UnsealError extends Error {
  override readonly name = 'UnsealError'
}

/**
 * Encrypts a text with AES-256-GCM. The result can be decrypted only with the key and for the same `place`, so that moving a
 * value to another row of the database is detected.
 *
 * @param nonce 12 random bytes, new for each text
 * @param place the names that identify the row of the text
 */
export function sealText(key: Uint8Array, nonce: Uint8Array, place: readonly string[], text: string): string {
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(JSON.stringify(place)))
  const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return PREFIX + sealed.toString('base64')
}

export const newNonce = (randomBytes: (bytes: number) => Uint8Array): Uint8Array => randomBytes(NONCE_BYTES)

/** Decrypts a text. @throws UnsealError */
export function unsealText(key: Uint8Array, place: readonly string[], sealed: string): string {
  const bytes = Buffer.from(sealed.slice(PREFIX.length), 'base64')
  if (!sealed.startsWith(PREFIX) || bytes.length < NONCE_BYTES + TAG_BYTES) throw new UnsealError('not a sealed text')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(JSON.stringify(place)))
    .setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch (cause) {
    throw new UnsealError('a stored secret cannot be decrypted: use the secrets key that it was encrypted with', {
      cause,
    })
  }
}
