import { expect, test } from 'vitest'
import { readSettings } from './read-settings.ts'
import { pinnedSettings } from './setting-table.ts'

test.each<[string, Record<string, string>, object]>([
  ['nothing', {}, {}],
  ['admin mode, also off', { PENSTOCK_ADMIN_MODE: 'false' }, { admin_mode: false }],
  ['the lifetime of tokens', { PENSTOCK_OAUTH_TOKEN_LIFETIME_SECONDS: '60' }, { oauth_access_token_expires_in: 60 }],
  [
    'the password grant',
    { PENSTOCK_ROPC_WITHOUT_CLIENT_CREDENTIALS: 'false' },
    { ropc_without_client_credentials: false },
  ],
  [
    'the prefix of tokens',
    { PENSTOCK_PERSONAL_ACCESS_TOKEN_PREFIX: 'acme-' },
    { personal_access_token_prefix: 'acme-' },
  ],
  [
    'personal access tokens',
    { PENSTOCK_DISABLE_PERSONAL_ACCESS_TOKENS: 'false' },
    { disable_personal_access_tokens: false },
  ],
])('variables fix application settings: %s', (_, variables, pinned) => {
  expect(pinnedSettings(readSettings(undefined, variables))).toEqual(pinned)
})
