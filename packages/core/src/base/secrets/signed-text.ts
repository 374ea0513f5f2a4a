import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/**
 * Returns a signature that proves that this service made a text, for links that work without a sign-in.
 *
 * @param parts the purpose of the link, and everything that it is about
 */
export const signatureOf = (secretsKey: Uint8Array, parts: readonly string[]): string =>
  createHmac('sha256', Buffer.from(hkdfSync('sha256', secretsKey, '', 'penstock signed links', 32)))
    .update(JSON.stringify(parts))
    .digest('base64url')

/** Compares in a time that does not depend on where the signatures differ. */
export function isSignatureOf(secretsKey: Uint8Array, parts: readonly string[], signature: string): boolean {
  const expected = Buffer.from(signatureOf(secretsKey, parts))
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
