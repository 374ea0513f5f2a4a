import { type SignatureForm, validateHmac } from '../forge/hmac-signature.ts'
import type { CredentialRefusal, Credentials, HookHeaders, HookRules } from '../forge/hook-rules.ts'
import { headerBytes, validateSecretToken } from '../forge/secret-token.ts'
import { headerWord } from '../forge/signed-hooks.ts'

const form: SignatureForm = { algorithm: 'sha256', encoding: 'hex', prefix: '' }

/** The highest age of a signature. A recorded request can be replayed for this long. */
const REPLAY_WINDOW_MS = 5 * 60_000

/** Buildkite sends the token itself, or a signature with the token as key. */
export const hookRules: HookRules = {
  event: (headers) => headerWord(headers, 'x-buildkite-event'),
  recordEvents: ['build.finished', 'job.finished'],
  validateHeaders: (credentials, { headers, nowMs }) =>
    headers['x-buildkite-signature'] === undefined
      ? validateSecretToken(credentials, [headers['x-buildkite-token']])
      : validateTimestamp(credentials, headers, nowMs),
  validateSignature,
}

function validateTimestamp(
  { secretTokens }: Credentials,
  headers: HookHeaders,
  nowMs: number,
): CredentialRefusal | undefined {
  if (secretTokens.length === 0) return undefined
  const { timestamp, signature } = signatureParts(headers)
  if (timestamp === undefined || signature === undefined) return 'signature_missing'
  if (!/^\d{1,12}$/.test(timestamp)) return 'timestamp_unreadable'
  return Math.abs(Number(timestamp) * 1_000 - nowMs) > REPLAY_WINDOW_MS ? 'timestamp_outside_window' : undefined
}

/** Validates the signature. Without one, `validateHeaders` has validated the token. */
function validateSignature(
  credentials: Credentials,
  headers: HookHeaders,
  body: Uint8Array,
): CredentialRefusal | undefined {
  if (headers['x-buildkite-signature'] === undefined) return undefined
  const { timestamp, signature } = signatureParts(headers)
  return validateHmac(credentials, form, signature, [headerBytes(`${timestamp}.`), body])
}

/** Reads `timestamp=1764500000,signature=…`. */
function signatureParts(headers: HookHeaders): { timestamp: string | undefined; signature: string | undefined } {
  const parts = headers['x-buildkite-signature']?.toString().split(',') ?? []
  const part = (name: string) =>
    parts
      .map((each) => each.trim())
      .find((each) => each.startsWith(`${name}=`))
      ?.slice(name.length + 1)
  return { timestamp: part('timestamp'), signature: part('signature') }
}
