import { bearerToken } from './authorization.ts'
import type { HookRules } from './hook-rules.ts'
import { validateSecretToken } from './secret-token.ts'

/**
 * The rules for senders that sign nothing and name no event: systems with the format of Penstock, senders of CDEvents, and scripts
 * that send answers of a forge's API. They send the secret token as a bearer token.
 */
export const bearerRules: HookRules = {
  event: () => undefined,
  recordEvents: [],
  validateHeaders: (credentials, { headers }) => validateSecretToken(credentials, [bearerToken(headers)]),
  validateSignature: () => undefined,
}
