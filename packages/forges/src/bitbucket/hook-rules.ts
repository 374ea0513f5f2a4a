import { type SignatureForm, validateHmac, validateHmacHeader } from '../forge/hmac-signature.ts'
import type { HookRules } from '../forge/hook-rules.ts'

const form: SignatureForm = { algorithm: 'sha256', encoding: 'hex', prefix: 'sha256=' }

/** Hooks of Bitbucket contain no pipeline: those about the status of a commit say that one has changed. */
export const hookRules: HookRules = {
  event: (headers) => headers['x-event-key']?.toString().trim().toLowerCase(),
  recordEvents: [],
  validateHeaders: (credentials, { headers }) => validateHmacHeader(credentials, form, headers['x-hub-signature']),
  validateSignature: (credentials, headers, body) =>
    validateHmac(credentials, form, headers['x-hub-signature']?.toString(), [body]),
}
