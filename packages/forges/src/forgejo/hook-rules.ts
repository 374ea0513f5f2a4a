import { type SignatureForm, validateHmac, validateHmacHeader } from '../forge/hmac-signature.ts'
import type { HookHeaders, HookRules } from '../forge/hook-rules.ts'

const form: SignatureForm = { algorithm: 'sha256', encoding: 'hex', prefix: '' }

/** Returns a header under its own name, or under that of the forge it comes from. */
const header = (headers: HookHeaders, what: string): string | undefined =>
  (headers[`x-forgejo-${what}`] ?? headers[`x-gitea-${what}`])?.toString()

/** The secret token of a source is the key of the signature. */
export const hookRules: HookRules = {
  event: (headers) => header(headers, 'event')?.trim().toLowerCase(),
  recordEvents: ['action_run_success', 'action_run_failure', 'action_run_recover'],
  validateHeaders: (credentials, { headers }) => validateHmacHeader(credentials, form, header(headers, 'signature')),
  validateSignature: (credentials, headers, body) =>
    validateHmac(credentials, form, header(headers, 'signature'), [body]),
}
