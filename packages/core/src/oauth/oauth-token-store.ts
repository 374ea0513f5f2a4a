import type { ExpressionBuilder, Generated, Selectable } from 'kysely'
import type { Core, ReadContext, Tx } from '../kit/context.ts'
import { DAY_MS } from '../kit/day.ts'
import type { CoreTables } from '../kit/tables.ts'
import { scopesOf } from '../tokens/scope.ts'
import { digestOf, digestOfPresented } from '../tokens/token-text.ts'
import { OAuthRefusal } from './oauth-refusal.ts'
import { newOpaqueSecret } from './opaque-secret.ts'
import { type Challenge, type ChallengeMethod, challengeOfColumns } from './pkce.ts'

declare module '../kit/tables.ts' {
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
  /** Of the code that the family began with. */
  redirect_uri: string | null
  challenge: string | null
  challenge_method: ChallengeMethod | null
  created_at_ms: number
  /** Of the access token; a refresh token ends when it is revoked. */
  expires_at_ms: number
  revoked_at_ms: number | null
}

/** An access token, and the refresh token that was given with it. */
export interface OAuthToken {
  readonly id: number
  /** All that come from one consent, or one sign-in: revoked together when one of them turns up in wrong hands. */
  readonly family: string
  /** The one whose refresh gave this, until this is used for the first time. */
  readonly previousId: number | undefined
  /** `undefined`: got with a password and without a client. */
  readonly applicationId: number | undefined
  /** `undefined`: the application acts for itself. */
  readonly userId: number | undefined
  readonly scopes: readonly string[]
  /** Of the code that the family began with; `undefined`: with none. */
  readonly redirectUri: string | undefined
  readonly challenge: Challenge | undefined
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly isRevoked: boolean
}

/** The only moment at which the tokens themselves are known. */
export interface IssuedToken {
  readonly accessToken: string
  readonly refreshToken: string | undefined
  readonly scopes: readonly string[]
  readonly expiresInSeconds: number
  readonly createdAtMs: number
}

/** A revoked one is remembered so long, to know it when it comes again. */
const REMEMBERED_MS = 30 * DAY_MS
/** Of one user and one application; what has ended makes room. */
const MAX_TOKENS_PER_USER = 10_000

type Draft = Pick<OAuthToken, 'applicationId' | 'userId' | 'scopes'> &
  Partial<Pick<OAuthToken, 'family' | 'previousId' | 'redirectUri' | 'challenge'>> & { readonly isRefreshable: boolean }

/** @throws OAuthRefusal `too_many_tokens`: so many are alive already, and this would not take the place of one */
export async function insertOAuthToken(tx: Pick<Tx, 'db' | 'nowMs'>, core: Core, draft: Draft): Promise<IssuedToken> {
  const { db, nowMs } = tx
  await deleteExpiredOAuthTokens(tx)
  await makeRoom(tx, draft)
  const expiresInSeconds = core.settings.oauthTokenLifetimeSeconds
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
 * Marks the first use of a token that came from a refresh: the client has got it. What it replaces ends, and so do the
 * answers to other refreshes with the same refresh token; what has come from this one already stays.
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
  const beforeMs = nowMs - REMEMBERED_MS
  await db.deleteFrom('oauth_tokens').where('revoked_at_ms', '<', beforeMs).execute()
  await db
    .deleteFrom('oauth_tokens')
    .where('expires_at_ms', '<', beforeMs)
    .where('refresh_digest', 'is', null)
    .execute()
}

/**
 * At the bound, what has ended goes. What is alive stays: a refresh then takes the place of its other answers, which would
 * end with the first use of any of them, and whatever takes nobody's place is refused.
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
  createdAtMs: row.created_at_ms,
  expiresAtMs: row.expires_at_ms,
  isRevoked: row.revoked_at_ms !== null,
})
