import { type SignatureForm, validateHmac, validateHmacHeader } from '../forge/hmac-signature.ts'
import type { HookHeaders, HookRules } from '../forge/hook-rules.ts'

const form: SignatureForm = { algorithm: 'sha256', encoding: 'hex', prefix: 'v1=' }

export const hookRules: HookRules = {
  event: (headers) => headers['circleci-event-type']?.toString().trim().toLowerCase(),
  recordEvents: ['workflow-completed', 'job-completed'],
  validateHeaders: (credentials, { headers }) => validateHmacHeader(credentials, form, signature(headers)),
  validateSignature: (credentials, headers, body) => validateHmac(credentials, form, signature(headers), [body]),
}

/** Returns the signature of version 1. The header is a list of signatures, one for each version. */
const signature = (headers: HookHeaders): string | undefined =>
  headers['circleci-signature']
    ?.toString()
    .split(',')
    .map((each) => each.trim())
    .find((each) => each.startsWith(form.prefix))
