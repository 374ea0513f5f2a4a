import type { Kysely, Transaction } from 'kysely'
import type { GatewayTables } from '../store/tables.ts'
import type { ExpiringToken, ExpiryNotice } from './expiry-warnings.ts'
import { ENDED, LONGEST_STEP_MS } from './expiry-warnings.ts'

/**
 * Lists up to `limit` tokens that may need an expiry notice, earliest expiry first, beginning after the token `after`.
 */
export async function listExpiringTokens(
  db: Kysely<GatewayTables>,
  nowMs: number,
  limit: number,
  after: ExpiringToken | undefined,
): Promise<ExpiringToken[]> {
  let query = db
    .selectFrom('ingest_tokens')
    .select(['id', 'name', 'created_at_ms', 'expires_at_ms', 'disabled', 'expiry_warned_ms'])
    .where('revoked_at_ms', 'is', null)
    .where('expires_at_ms', '<=', nowMs + LONGEST_STEP_MS)
    .where((eb) => eb.or([eb('expiry_warned_ms', 'is', null), eb('expiry_warned_ms', '>', ENDED)]))
    .orderBy('expires_at_ms')
    .orderBy('id')
    .limit(limit)
  if (after !== undefined) {
    query = query.where((eb) =>
      eb.or([
        eb('expires_at_ms', '>', after.expiresAtMs),
        eb.and([eb('expires_at_ms', '=', after.expiresAtMs), eb('id', '>', after.id)]),
      ]),
    )
  }
  const rows = await query.execute()
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms ?? Number.POSITIVE_INFINITY,
    disabled: row.disabled === 1,
    warnedMs: row.expiry_warned_ms ?? undefined,
  }))
}

/** Returns when the last valid token expires: `undefined` if one never expires, 0 if none is valid. */
export async function lastValidTokenEndMs(db: Kysely<GatewayTables>, nowMs: number): Promise<number | undefined> {
  const { count, withEnd, lastEndMs } = await db
    .selectFrom('ingest_tokens')
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      eb.fn.count<number>('expires_at_ms').as('withEnd'),
      eb.fn.max<number | null>('expires_at_ms').as('lastEndMs'),
    ])
    .where('revoked_at_ms', 'is', null)
    .where('disabled', '=', 0)
    .where((eb) => eb.or([eb('expires_at_ms', 'is', null), eb('expires_at_ms', '>', nowMs)]))
    .executeTakeFirstOrThrow()
  return count > withEnd ? undefined : (lastEndMs ?? 0)
}

/** Records that this process gives the notice. Returns false if another process already did, or if the expiry has changed. */
export async function claimNotice(tx: Transaction<GatewayTables>, { token, stepMs }: ExpiryNotice): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('ingest_tokens')
    .set({ expiry_warned_ms: stepMs })
    .where('id', '=', token.id)
    .where('expires_at_ms', '=', token.expiresAtMs)
    .where('revoked_at_ms', 'is', null)
    .where((eb) => eb.or([eb('expiry_warned_ms', 'is', null), eb('expiry_warned_ms', '>', stepMs)]))
    .executeTakeFirst()
  return numUpdatedRows > 0n
}
