import type { HookRules } from './hook-rules.ts'
import { validateSecretToken } from './secret-token.ts'

const scheme = /^bearer /i

/** The hooks of senders that name no event in a header and send the secret token as `Authorization: Bearer`. */
export const bearerHookRules: HookRules = {
  event: () => undefined,
  recordEvents: [],
  validateHeaders: (credentials, { headers }) => {
    const given = headers.authorization
    const token = typeof given === 'string' && scheme.test(given) ? given.replace(scheme, '').trim() : undefined
    return validateSecretToken(credentials, [token])
  },
  validateSignature: () => undefined,
}
