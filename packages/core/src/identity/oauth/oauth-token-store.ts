import type { ExpressionBuilder, Generated, Selectable } from 'kysely'
import { DAY_MS } from '../../base/kit/day.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Core, Tx } from '../../base/operations/context.ts'
import { settingOf } from '../../base/settings/setting-of.ts'
import { newOpaqueSecret } from '../tokens/opaque-secret.ts'
import { scopesOf } from '../tokens/scope.ts'
import { digestOf, digestOfPresented } from '../tokens/token-text.ts'
import { OAuthRefusal } from './oauth-refusal.ts'
import { type Challenge, type ChallengeMethod, challengeOfColumns } from './pkce.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    oauth_tokens: OAuthTokensTable
  }
}

interface OAuthTokensTable {
  id: Generated<number>
  access_digest: string
  refresh_digest: string | null
  family: string
  previous_id: number | null
  application_id: number | null
  user_id: number | null
  scopes: string
  /** The redirect URI of the code that started the family. */
  redirect_uri: string | null
  challenge: string | null
  challenge_method: ChallengeMethod | null
  /** When the user signed in, for ID tokens. */
  auth_time_ms: Generated<number | null>
  created_at_ms: number
  /** When the access token expires; a refresh token is valid until it is revoked. */
  expires_at_ms: number
  revoked_at_ms: number | null
}

/** An access token and its refresh token. */
export interface OAuthToken {
  readonly id: number
  /** The tokens of one consent or sign-in. They are revoked together if one of them is used by someone else. */
  readonly family: string
  /** The id of the token that was refreshed to get this one, until the first use of this one. */
  readonly previousId: number | undefined
  /** `undefined` for the password grant without a client. */
  readonly applicationId: number | undefined
  /** `undefined` if the application acts for itself. */
  readonly userId: number | undefined
  readonly scopes: readonly string[]
  /** The redirect URI of the code that started the family; `undefined` if there was no code. */
  readonly redirectUri: string | undefined
  readonly challenge: Challenge | undefined
  readonly authTimeMs: number | undefined
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly isRevoked: boolean
}

/** Tokens in plain text, which are only available when they are issued. */
export interface IssuedToken {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly scopes: readonly string[]
  readonly expiresInSeconds: number
  readonly createdAtMs: number
}

/** The lifetime of a token while the setting is null. */
const DEFAULT_LIFETIME_SECONDS = 7_200
/** How long a revoked token is stored, to recognize its use. */
const RETENTION_MS = 30 * DAY_MS
/** The limit of tokens of one user for one application; at the limit, expired and revoked ones are deleted. */
const MAX_TOKENS_PER_USER = 10_000

type Draft = Pick<OAuthToken, 'applicationId' | 'userId' | 'scopes'> &
  Partial<Pick<OAuthToken, 'family' | 'previousId' | 'redirectUri' | 'challenge' | 'authTimeMs'>> & {
    readonly isRefreshable: boolean
  }

/**
 * Inserts a token.
 * @throws OAuthRefusal `too_many_tokens` if the limit of valid tokens is reached and the new token replaces none
 */
export async function insertOAuthToken(tx: Pick<Tx, 'db' | 'nowMs'>, core: Core, draft: Draft): Promise<IssuedToken> {
  const { db, nowMs } = tx
  await deleteExpiredOAuthTokens(tx)
  await makeRoom(tx, draft)
  const expiresInSeconds = (await settingOf(core, 'oauth_access_token_expires_in')) ?? DEFAULT_LIFETIME_SECONDS
  const accessToken = newOpaqueSecret(core)
  const refreshToken = draft.isRefreshable ? newOpaqueSecret(core) : undefined
  await db
    .insertInto('oauth_tokens')
    .values({
      access_digest: digestOf(accessToken),
      refresh_digest: refreshToken === undefined ? null : digestOf(refreshToken),
      family: draft.family ?? newOpaqueSecret(core),
      previous_id: draft.previousId ?? null,
      application_id: draft.applicationId ?? null,
      user_id: draft.userId ?? null,
      scopes: draft.scopes.join(' '),
      redirect_uri: draft.redirectUri ?? null,
      challenge: draft.challenge?.text ?? null,
      challenge_method: draft.challenge?.method ?? null,
      auth_time_ms: draft.authTimeMs ?? null,
      created_at_ms: nowMs,
      expires_at_ms: nowMs + expiresInSeconds * 1_000,
      revoked_at_ms: null,
    })
    .execute()
  return { accessToken, refreshToken, scopes: draft.scopes, expiresInSeconds, createdAtMs: nowMs }
}

export async function findByAccessToken({ db }: ReadContext, accessToken: string): Promise<OAuthToken | undefined> {
  const digest = digestOfPresented(accessToken)
  if (digest === undefined) return undefined
  const row = await db.selectFrom('oauth_tokens').selectAll().where('access_digest', '=', digest).executeTakeFirst()
  return row && tokenOf(row)
}

export async function findByRefreshToken({ db }: ReadContext, refreshToken: string): Promise<OAuthToken | undefined> {
  const digest = digestOfPresented(refreshToken)
  if (digest === undefined) return undefined
  const row = await db.selectFrom('oauth_tokens').selectAll().where('refresh_digest', '=', digest).executeTakeFirst()
  return row && tokenOf(row)
}

export async function revokeFamily({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, family: string): Promise<void> {
  await db
    .updateTable('oauth_tokens')
    .set({ revoked_at_ms: nowMs })
    .where('family', '=', family)
    .where('revoked_at_ms', 'is', null)
    .execute()
}

export async function revokeOAuthTokensOf({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, userId: number): Promise<void> {
  await db
    .updateTable('oauth_tokens')
    .set({ revoked_at_ms: nowMs })
    .where('user_id', '=', userId)
    .where('revoked_at_ms', 'is', null)
    .execute()
}

/**
 * Handles the first use of a token that came from a refresh, which shows that the client has received it. Revokes the
 * token that it replaces and the results of other refreshes with the same refresh token; keeps the tokens that were
 * refreshed from this one.
 */
export async function revokeReplacedBy({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, token: OAuthToken): Promise<void> {
  const alive = await db
    .selectFrom('oauth_tokens')
    .select(['id', 'previous_id'])
    .where('family', '=', token.family)
    .where('revoked_at_ms', 'is', null)
    .orderBy('id')
    .execute()
  const kept = new Set([token.id])
  for (const { id, previous_id } of alive) if (previous_id !== null && kept.has(previous_id)) kept.add(id)
  await db
    .updateTable('oauth_tokens')
    .set({ revoked_at_ms: nowMs })
    .where('family', '=', token.family)
    .where('revoked_at_ms', 'is', null)
    .where('id', 'not in', [...kept])
    .execute()
  await db.updateTable('oauth_tokens').set({ previous_id: null }).where('id', '=', token.id).execute()
}

export async function deleteExpiredOAuthTokens({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>): Promise<void> {
  const beforeMs = nowMs - RETENTION_MS
  await db.deleteFrom('oauth_tokens').where('revoked_at_ms', '<', beforeMs).execute()
  await db
    .deleteFrom('oauth_tokens')
    .where('expires_at_ms', '<', beforeMs)
    .where('refresh_digest', 'is', null)
    .execute()
}

/**
 * At the limit, deletes expired and revoked tokens. Valid tokens stay. A refresh also deletes the tokens that came from
 * other refreshes with the same refresh token; the first use of any of them would revoke these anyway. Any other
 * request is rejected if there is still no room.
 */
async function makeRoom({ db, nowMs }: Pick<Tx, 'db' | 'nowMs'>, draft: Draft): Promise<void> {
  const { applicationId, userId, previousId } = draft
  const isOfBoth = (eb: ExpressionBuilder<CoreTables, 'oauth_tokens'>) =>
    eb.and([
      eb('user_id', userId === undefined ? 'is' : '=', userId ?? null),
      eb('application_id', applicationId === undefined ? 'is' : '=', applicationId ?? null),
    ])
  const isFull = async () => {
    const last = await db
      .selectFrom('oauth_tokens')
      .select('id')
      .where(isOfBoth)
      .limit(1)
      .offset(MAX_TOKENS_PER_USER - 1)
      .executeTakeFirst()
    return last !== undefined
  }
  if (!(await isFull())) return
  await db
    .deleteFrom('oauth_tokens')
    .where(isOfBoth)
    .where((eb) =>
      eb.or([
        eb('revoked_at_ms', 'is not', null),
        eb.and([eb('refresh_digest', 'is', null), eb('expires_at_ms', '<=', nowMs)]),
      ]),
    )
    .execute()
  if (previousId !== undefined) await db.deleteFrom('oauth_tokens').where('previous_id', '=', previousId).execute()
  else if (await isFull()) throw new OAuthRefusal('too_many_tokens')
}

const tokenOf = (row: Selectable<OAuthTokensTable>): OAuthToken => ({
  id: row.id,
  family: row.family,
  previousId: row.previous_id ?? undefined,
  applicationId: row.application_id ?? undefined,
  userId: row.user_id ?? undefined,
  scopes: scopesOf(row.scopes),
  redirectUri: row.redirect_uri ?? undefined,
  challenge: challengeOfColumns(row),
  authTimeMs: row.auth_time_ms ?? undefined,
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms,
  isRevoked: row.revoked_at_ms !== null,
})
