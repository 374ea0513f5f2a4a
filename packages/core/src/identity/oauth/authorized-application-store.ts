import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import { isOneOf } from '../../base/kit/conditions.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Tx } from '../../base/operations/context.ts'
import { scopesOf } from '../tokens/scope.ts'
import type { Application } from './application.ts'
import { applicationOf } from './application-store.ts'

/** The access of an application to the account of a user. */
export interface AuthorizedApplication {
  /** `undefined` for programs that got tokens with the password of the user, without a client. */
  readonly application: Application | undefined
  /** The scopes of all its tokens. */
  readonly scopes: readonly string[]
  /** When the newest token was issued. */
  readonly lastTokenAtMs: number
}

/** Returns the applications that have a usable token of the user, ordered by id. */
export async function findAuthorizedApplications(
  { db, nowMs }: ReadContext,
  userId: number,
): Promise<AuthorizedApplication[]> {
  const granted = await db
    .selectFrom('oauth_tokens')
    .select(({ fn }) => ['application_id', 'scopes', fn.max('created_at_ms').as('last_ms')])
    .where('user_id', '=', userId)
    .where((eb) => isUsable(eb, nowMs))
    .groupBy(['application_id', 'scopes'])
    .execute()
  const ids = [...new Set(granted.map(({ application_id }) => application_id))]
  const rows = await db
    .selectFrom('oauth_applications')
    .selectAll()
    .where(
      isOneOf(
        sql.ref('id'),
        ids.filter((id) => id !== null),
      ),
    )
    .execute()
  const applications = new Map(rows.map((row) => [row.id, applicationOf(row)]))
  return ids
    .toSorted((one, other) => (one ?? 0) - (other ?? 0))
    .map((id) => {
      const own = granted.filter((each) => each.application_id === id)
      return {
        application: id === null ? undefined : applications.get(id)!,
        scopes: [...new Set(own.flatMap(({ scopes }) => scopesOf(scopes)))].toSorted(),
        lastTokenAtMs: Math.max(...own.map(({ last_ms }) => Number(last_ms))),
      }
    })
}

/** A token can be used until it expires, or forever if it can be refreshed. */
const isUsable = (eb: ExpressionBuilder<CoreTables, 'oauth_tokens'>, nowMs: number): Expression<SqlBool> =>
  eb.and([
    eb('revoked_at_ms', 'is', null),
    eb.or([eb('refresh_digest', 'is not', null), eb('expires_at_ms', '>', nowMs)]),
  ])

/**
 * Revokes the tokens of a user for an application, or those without an application, and deletes its unused codes.
 *
 * @returns whether the application had access
 */
export async function revokeAccessOf(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  userId: number,
  applicationId: number | undefined,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('oauth_tokens')
    .set({ revoked_at_ms: nowMs })
    .where('user_id', '=', userId)
    .where('application_id', applicationId === undefined ? 'is' : '=', applicationId ?? null)
    .where('revoked_at_ms', 'is', null)
    .executeTakeFirstOrThrow()
  if (applicationId === undefined) return numUpdatedRows > 0n
  for (const codes of ['oauth_codes', 'oauth_device_codes'] as const) {
    await db.deleteFrom(codes).where('user_id', '=', userId).where('application_id', '=', applicationId).execute()
  }
  return numUpdatedRows > 0n
}
