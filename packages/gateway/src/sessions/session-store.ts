import type { Insertable, Kysely, Selectable, Transaction } from 'kysely'
import type { ApiKeyRow } from '../accounts/api-key-store.ts'
import type { GatewayTables, SessionTable, SignInCodeTable } from '../store/tables.ts'

type Tx = Transaction<GatewayTables>
type Read = Kysely<GatewayTables>

/** A session with the key that it belongs to. */
export interface SessionRow extends Selectable<SessionTable> {
  readonly key_name: string
  readonly key_role: ApiKeyRow['role']
  readonly key_expires_at_ms: number | null
}

export async function insertSession(tx: Tx, row: Insertable<SessionTable>): Promise<void> {
  await tx.insertInto('sessions').values(row).execute()
}

/** Finds a session by the hashes of its secret, one per pepper. */
export async function findSessionByMac(db: Read, macs: readonly Buffer[]): Promise<SessionRow | undefined> {
  return await db
    .selectFrom('sessions')
    .innerJoin('api_keys', 'api_keys.id', 'sessions.key_id')
    .selectAll('sessions')
    .select(['api_keys.name as key_name', 'api_keys.role as key_role', 'api_keys.expires_at_ms as key_expires_at_ms'])
    .where('sessions.mac', 'in', macs)
    .executeTakeFirst()
}

export async function updateSessionLastUsed(tx: Tx, id: string, nowMs: number): Promise<void> {
  await tx.updateTable('sessions').set({ last_used_at_ms: nowMs }).where('id', '=', id).execute()
}

export async function deleteSession(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('sessions').where('id', '=', id).execute()
}

/** Deletes the sessions of a key except the `kept` that were used last, and returns the ids of the deleted ones. */
export async function deleteOldestSessions(tx: Tx, keyId: string, kept: number): Promise<readonly string[]> {
  const latest = tx
    .selectFrom('sessions')
    .select('id')
    .where('key_id', '=', keyId)
    .orderBy('last_used_at_ms', 'desc')
    .orderBy('created_at_ms', 'desc')
    .limit(kept)
  const deleted = await tx
    .deleteFrom('sessions')
    .where('key_id', '=', keyId)
    .where('id', 'not in', latest)
    .returning('id')
    .execute()
  return deleted.map(({ id }) => id)
}

export async function deleteSessionsBefore(
  tx: Tx,
  { createdMs, lastUsedMs }: { readonly createdMs: number; readonly lastUsedMs: number },
): Promise<void> {
  await tx.deleteFrom('sessions').where('created_at_ms', '<=', createdMs).execute()
  await tx.deleteFrom('sessions').where('last_used_at_ms', '<=', lastUsedMs).execute()
}

export async function insertSignInCode(tx: Tx, row: Insertable<SignInCodeTable>): Promise<void> {
  await tx.insertInto('sign_in_codes').values(row).execute()
}

/** Finds a code by its hashes, one per pepper. */
export async function findSignInCode(
  db: Read,
  macs: readonly Buffer[],
): Promise<Selectable<SignInCodeTable> | undefined> {
  return await db.selectFrom('sign_in_codes').selectAll().where('mac', 'in', macs).executeTakeFirst()
}

/** Deletes a code and returns it, so that only one caller can use it. */
export async function takeSignInCode(
  tx: Tx,
  macs: readonly Buffer[],
): Promise<Selectable<SignInCodeTable> | undefined> {
  return await tx.deleteFrom('sign_in_codes').where('mac', 'in', macs).returningAll().executeTakeFirst()
}

/** Deletes the codes of a key except the `kept` latest ones. */
export async function deleteOldestSignInCodes(tx: Tx, keyId: string, kept: number): Promise<void> {
  const latest = tx
    .selectFrom('sign_in_codes')
    .select('mac')
    .where('key_id', '=', keyId)
    .orderBy('created_at_ms', 'desc')
    .limit(kept)
  await tx.deleteFrom('sign_in_codes').where('key_id', '=', keyId).where('mac', 'not in', latest).execute()
}

export async function deleteSignInCodesBefore(tx: Tx, createdMs: number): Promise<void> {
  await tx.deleteFrom('sign_in_codes').where('created_at_ms', '<=', createdMs).execute()
}
