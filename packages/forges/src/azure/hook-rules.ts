import type { HookHeaders, HookRules } from '../forge/hook-rules.ts'
import { validateSecretToken } from '../forge/secret-token.ts'

/** Service hooks have no signature: they send a user name and a password, which are the secret token `user:password`. */
export const hookRules: HookRules = {
  event: () => undefined,
  recordEvents: ['build.complete'],
  secretTokenForm: { pattern: /:/, expected: 'user:password' },
  validateHeaders: (credentials, { headers }) => validateSecretToken(credentials, [basicCredentials(headers)]),
  validateSignature: () => undefined,
}

/** Returns the user name and the password with a colon between them, each byte as one character. */
function basicCredentials(headers: HookHeaders): string | undefined {
  const [, encoded] = /^basic ([a-z\d+/]+={0,2})$/i.exec(headers.authorization?.toString().trim() ?? '') ?? []
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString('latin1')
}
