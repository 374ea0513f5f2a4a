import { createHmac, timingSafeEqual } from 'node:crypto'
import type { CredentialRefusal, Credentials, HookHeaders, HookRules } from '../forge/hook-rules.ts'
import { headerBytes, validateSecretToken } from '../forge/secret-token.ts'
import { headerWord } from '../forge/signed-hooks.ts'

export const hookRules: HookRules = {
  event: (headers, serviceName) => headerWord(headers, ...headerNames(serviceName, 'event')),
  // The first versions of the forge called job hooks build hooks.
  recordEvents: ['pipeline hook', 'job hook', 'build hook', 'system hook'],
  mixedEvent: 'system hook',
  hasSigningTokens: true,
  validateHeaders,
  validateSignature,
}

/** Returns the names of a header in lower case, in order of precedence. */
const headerNames = (serviceName: string, what: 'event' | 'token'): string[] => [
  `x-${serviceName.toLowerCase()}-${what}`,
  `x-gitlab-${what}`,
]

/** The allowed difference between the clocks of sender and receiver. A recorded request can be replayed for this long. */
const REPLAY_WINDOW_MS = 5 * 60_000

/**
 * Validates the headers before the body is read: the secret token, if the source has one, and the presence and time of a
 * signature, if the source has a signing token.
 *
 * @see Standard Webhooks, "Verifying webhook authenticity"
 */
function validateHeaders(
  credentials: Credentials,
  { headers, serviceName, nowMs }: Parameters<HookRules['validateHeaders']>[1],
): CredentialRefusal | undefined {
  const tokens = headerNames(serviceName, 'token').map((name) => headers[name])
  const refusal = validateSecretToken(credentials, tokens)
  if (refusal !== undefined || credentials.signingKeys.length === 0) return refusal
  return validateTimestamp(headers, nowMs)
}

function validateTimestamp(headers: HookHeaders, nowMs: number): CredentialRefusal | undefined {
  const { id, timestamp, signatures } = signatureHeaders(headers)
  if (id === '' || timestamp === '' || signatures === '') return 'signature_missing'
  if (!/^\d{1,12}$/.test(timestamp)) return 'timestamp_unreadable'
  return Math.abs(Number(timestamp) * 1_000 - nowMs) > REPLAY_WINDOW_MS ? 'timestamp_outside_window' : undefined
}

/** Validates the signature over the raw body of a request that `validateHeaders` accepted. */
function validateSignature(
  { signingKeys }: Credentials,
  headers: HookHeaders,
  body: Uint8Array,
): CredentialRefusal | undefined {
  if (signingKeys.length === 0) return undefined
  const { id, timestamp, signatures } = signatureHeaders(headers)
  const signed = signatures.split(' ').map((text) => Buffer.from(text))
  for (const key of signingKeys) {
    const hmac = createHmac('sha256', key)
      .update(headerBytes(`${id}.${timestamp}.`))
      .update(body)
    const expected = Buffer.from(`v1,${hmac.digest('base64')}`)
    if (signed.some((text) => text.length === expected.length && timingSafeEqual(text, expected))) return undefined
  }
  return 'signature_wrong'
}

function signatureHeaders(headers: HookHeaders): { id: string; timestamp: string; signatures: string } {
  const text = (name: string) => headers[name]?.toString() ?? ''
  return {
    id: text('webhook-id'),
    timestamp: text('webhook-timestamp'),
    signatures: text('webhook-signature'),
  }
}
