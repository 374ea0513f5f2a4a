import { Lookup } from '@penstock/db'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { userColumns, userOf } from '../users/user-store.ts'
import { stateOf } from './access-token-store.ts'
import type { Authenticated } from './authenticated.ts'
import { scopesOf } from './scope.ts'
import { digestOfPresented } from './token-text.ts'

/** Runs for every request with a token. */
const tokenAndUser = new Lookup((db: ReadContext['db'], digest: string) =>
  db
    .selectFrom('access_tokens')
    .innerJoin('users', 'users.id', 'access_tokens.user_id')
    .select(userColumns)
    .select([
      'access_tokens.id as token_id',
      'access_tokens.kind',
      'access_tokens.scopes',
      'access_tokens.expires_at',
      'access_tokens.revoked_at_ms',
      'access_tokens.last_used_at_ms',
    ])
    .where('access_tokens.digest', '=', digest),
)

/** Finds the token with this value and its user; `undefined` if it is unknown. */
export async function findByAccessTokenText(context: ReadContext, text: string): Promise<Authenticated | undefined> {
  const digest = digestOfPresented(text)
  if (digest === undefined) return undefined
  const row = await tokenAndUser.run(context.db, digest)
  if (row === undefined) return undefined
  return {
    kind: row.kind,
    id: row.token_id,
    scopes: scopesOf(row.scopes),
    state: stateOf(row, context.nowMs),
    lastUsedAtMs: row.last_used_at_ms ?? undefined,
    user: userOf(row),
  }
}
