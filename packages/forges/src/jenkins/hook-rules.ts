import { basicCredentials, bearerToken } from '../forge/authorization.ts'
import { bearerRules } from '../forge/bearer-token.ts'
import type { HookRules } from '../forge/hook-rules.ts'
import { validateSecretToken } from '../forge/secret-token.ts'

/** The notification plugin can only send a user name and a password, which are part of its URL. Scripts send a bearer token. */
export const hookRules: HookRules = {
  ...bearerRules,
  validateHeaders: (credentials, { headers }) =>
    validateSecretToken(credentials, [bearerToken(headers), basicCredentials(headers)]),
}
