import type { Generated, Selectable } from 'kysely'
import { DAY_MS } from '../../base/kit/day.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Core, Tx } from '../../base/operations/context.ts'
import { newOpaqueSecret } from '../tokens/opaque-secret.ts'
import { scopesOf } from '../tokens/scope.ts'
import { digestOf, digestOfPresented } from '../tokens/token-text.ts'
import { type Challenge, type ChallengeMethod, challengeOfColumns } from './pkce.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    oauth_codes: CodesTable
  }
}

interface CodesTable {
  id: Generated<number>
  code_digest: string
  /** The family of the tokens that are issued for the code. */
  family: string
  application_id: number
  user_id: number
  redirect_uri: string
  scopes: string
  challenge: string | null
  challenge_method: ChallengeMethod | null
  nonce: Generated<string | null>
  auth_time_ms: Generated<number | null>
  expires_at_ms: number
  used_at_ms: number | null
}

/** The consent of a user, until the application exchanges it for tokens. */
interface AuthorizationCode {
  readonly id: number
  readonly family: string
  readonly applicationId: number
  readonly userId: number
  readonly redirectUri: string
  readonly scopes: readonly string[]
  readonly challenge: Challenge | undefined
  /** The `nonce` of the authorization request, which the ID token repeats. */
  readonly nonce: string | undefined
  /** When the user signed in, if that is known. */
  readonly authTimeMs: number | undefined
  readonly expiresAtMs: number
  readonly isUsed: boolean
}

const LIFETIME_MS = 10 * 60_000
/** How long an expired code is stored, to recognize a second use. */
const RETENTION_MS = DAY_MS

/** Inserts a code. Returns it in plain text, which is not stored. */
export async function insertCode(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  core: Core,
  draft: Pick<AuthorizationCode, 'applicationId' | 'userId' | 'redirectUri' | 'scopes' | 'challenge'> &
    Partial<Pick<AuthorizationCode, 'nonce' | 'authTimeMs'>>,
): Promise<string> {
  await deleteExpiredCodes({ db, nowMs })
  const code = newOpaqueSecret(core)
  await db
    .insertInto('oauth_codes')
    .values({
      code_digest: digestOf(code),
      family: newOpaqueSecret(core),
      application_id: draft.applicationId,
      user_id: draft.userId,
      redirect_uri: draft.redirectUri,
      scopes: draft.scopes.join(' '),
      challenge: draft.challenge?.text ?? null,
      challenge_method: draft.challenge?.method ?? null,
      nonce: draft.nonce ?? null,
      auth_time_ms: draft.authTimeMs ?? null,
      expires_at_ms: nowMs + LIFETIME_MS,
      used_at_ms: null,
    })
    .execute()
  return code
}

export async function deleteExpiredCodes({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>): Promise<void> {
  await db
    .deleteFrom('oauth_codes')
    .where('expires_at_ms', '<=', nowMs - RETENTION_MS)
    .execute()
}

export async function findCode({ db }: ReadContext, code: string): Promise<AuthorizationCode | undefined> {
  const digest = digestOfPresented(code)
  if (digest === undefined) return undefined
  const row = await db.selectFrom('oauth_codes').selectAll().where('code_digest', '=', digest).executeTakeFirst()
  return row && codeOf(row)
}

export async function markCodeUsed({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, id: number): Promise<void> {
  await db.updateTable('oauth_codes').set({ used_at_ms: nowMs }).where('id', '=', id).execute()
}

export async function deleteCodesOf({ db }: Pick<Tx, 'db'>, userId: number): Promise<void> {
  await db.deleteFrom('oauth_codes').where('user_id', '=', userId).execute()
}

const codeOf = (row: Selectable<CodesTable>): AuthorizationCode => ({
  id: row.id,
  family: row.family,
  applicationId: row.application_id,
  userId: row.user_id,
  redirectUri: row.redirect_uri,
  scopes: scopesOf(row.scopes),
  challenge: challengeOfColumns(row),
  nonce: row.nonce ?? undefined,
  authTimeMs: row.auth_time_ms ?? undefined,
  expiresAtMs: row.expires_at_ms,
  isUsed: row.used_at_ms !== null,
})
