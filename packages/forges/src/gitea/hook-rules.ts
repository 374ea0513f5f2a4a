import { type SignatureForm, validateHmac, validateHmacHeader } from '../forge/hmac-signature.ts'
import type { HookRules } from '../forge/hook-rules.ts'

const form: SignatureForm = { algorithm: 'sha256', encoding: 'hex', prefix: '' }
const SIGNATURE = 'x-gitea-signature'

/** The secret token of a source is the key of the signature. */
export const hookRules: HookRules = {
  event: (headers) => headers['x-gitea-event']?.toString().trim().toLowerCase(),
  recordEvents: ['workflow_run', 'workflow_job'],
  validateHeaders: (credentials, { headers }) => validateHmacHeader(credentials, form, headers[SIGNATURE]),
  validateSignature: (credentials, headers, body) =>
    validateHmac(credentials, form, headers[SIGNATURE]?.toString(), [body]),
}
