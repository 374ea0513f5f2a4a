import { createHash } from 'node:crypto'
import { type SignatureForm, validateHmac } from '../forge/hmac-signature.ts'
import type { CredentialRefusal, Credentials, HookHeaders, HookRules } from '../forge/hook-rules.ts'
import { headerBytes } from '../forge/secret-token.ts'
import { headerWord } from '../forge/signed-hooks.ts'

const form: SignatureForm = { algorithm: 'sha256', encoding: 'base64', prefix: '' }

/** The allowed age of a hook. A recorded request can be replayed for this long. */
const REPLAY_WINDOW_MS = 5 * 60_000

/**
 * Drone signs the headers `date` and `digest`, and the digest covers the body.
 *
 * @see the draft "Signing HTTP Messages" (draft-cavage-http-signatures-10)
 */
export const hookRules: HookRules = {
  event: (headers) => headerWord(headers, 'x-drone-event'),
  recordEvents: ['build'],
  validateHeaders: ({ secretTokens }, { headers, nowMs }) => {
    if (secretTokens.length === 0) return undefined
    if (signedHeaders(headers) === undefined) return 'signature_missing'
    const sentMs = Date.parse(headers.date?.toString() ?? '')
    if (Number.isNaN(sentMs)) return 'timestamp_unreadable'
    return Math.abs(sentMs - nowMs) > REPLAY_WINDOW_MS ? 'timestamp_outside_window' : undefined
  },
  validateSignature,
}

function validateSignature(
  credentials: Credentials,
  headers: HookHeaders,
  body: Uint8Array,
): CredentialRefusal | undefined {
  if (credentials.secretTokens.length === 0) return undefined
  const signed = signedHeaders(headers)
  if (signed === undefined) return 'signature_missing'
  const digest = `SHA-256=${createHash('sha256').update(body).digest('base64')}`
  if (headers.digest?.toString().trim() !== digest) return 'signature_wrong'
  const content = signed.names.map((name) => `${name}: ${headers[name]?.toString().trim()}`).join('\n')
  return validateHmac(credentials, form, signed.signature, [headerBytes(content)])
}

/** Returns the names of the signed headers and their signature; `undefined` unless date and digest are among them. */
function signedHeaders(
  headers: HookHeaders,
): { readonly names: readonly string[]; readonly signature: string } | undefined {
  const given = headers.signature?.toString() ?? ''
  const signature = parameter(given, 'signature')
  const names = (parameter(given, 'headers') ?? '').toLowerCase().split(' ')
  const areSigned = ['date', 'digest'].every((name) => names.includes(name) && headers[name] !== undefined)
  const areKnown = names.every((name) => headers[name] !== undefined)
  return signature === undefined || !areSigned || !areKnown ? undefined : { names, signature }
}

/** Returns the value of `name="value"` in a list of parameters. */
const parameter = (list: string, name: string): string | undefined =>
  new RegExp(`(?:^|,)\\s*${name}="([^"]*)"`).exec(list)?.[1]
