import { createHash, timingSafeEqual } from 'node:crypto'
import type { CredentialRefusal, Credentials } from './hook-rules.ts'

/** Validates a secret token in headers. One header with a valid token is enough. */
export function validateSecretToken(
  { tokenDigests }: Credentials,
  values: readonly (string | readonly string[] | undefined)[],
): CredentialRefusal | undefined {
  if (tokenDigests.length === 0) return undefined
  const shown = values.filter((value) => typeof value === 'string')
  if (shown.length === 0) return 'token_missing'
  // Digests have equal lengths, so comparing them takes constant time.
  const digests = shown.map((value) => createHash('sha256').update(headerBytes(value)).digest())
  const isValid = digests.some((digest) => tokenDigests.some((own) => timingSafeEqual(own, digest)))
  return isValid ? undefined : 'token_wrong'
}

/** Returns the bytes of a header value. Node has decoded each byte as one character. */
export const headerBytes = (value: string): Buffer => Buffer.from(value, 'latin1')
