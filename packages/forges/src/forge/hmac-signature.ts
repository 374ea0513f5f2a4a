import { createHmac, timingSafeEqual } from 'node:crypto'
import type { CredentialRefusal, Credentials } from './hook-rules.ts'

/** How a forge writes the signatures of its hooks. */
export interface SignatureForm {
  readonly algorithm: 'sha256' | 'sha1'
  readonly encoding: 'hex' | 'base64'
  /** The text before the signature, such as `sha256=`. */
  readonly prefix: string
}

/**
 * Validates a signature that is made with the secret token of a source. One valid token is enough.
 *
 * @param value the value of the header, or the part of it that is the signature
 * @param content what is signed: the body, or several parts one after the other
 */
export function validateHmac(
  { secretTokens }: Credentials,
  { algorithm, encoding, prefix }: SignatureForm,
  value: string | undefined,
  content: readonly Uint8Array[],
): CredentialRefusal | undefined {
  if (secretTokens.length === 0) return undefined
  if (value === undefined || !value.startsWith(prefix)) return 'signature_missing'
  const given = Buffer.from(value.slice(prefix.length), encoding)
  const isValid = secretTokens.some((key) => {
    const hmac = createHmac(algorithm, key)
    for (const part of content) hmac.update(part)
    const expected = hmac.digest()
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
  return isValid ? undefined : 'signature_wrong'
}
