import { basicCredentials } from '../forge/authorization.ts'
import type { HookRules } from '../forge/hook-rules.ts'
import { validateSecretToken } from '../forge/secret-token.ts'

/** Service hooks have no signature: they send a user name and a password, which are the secret token `user:password`. */
export const hookRules: HookRules = {
  event: () => undefined,
  recordEvents: ['build.complete'],
  secretTokenForm: { pattern: /:/, expected: 'user:password' },
  validateHeaders: (credentials, { headers }) => validateSecretToken(credentials, [basicCredentials(headers)]),
  validateSignature: () => undefined,
}
