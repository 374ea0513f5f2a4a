import type { Insertable, Kysely, Selectable, Transaction } from 'kysely'
import { isPublicId } from '../secrets/token-format.ts'
import type { ApiKeyTable, GatewayTables } from '../store/tables.ts'

export type ApiKeyRow = Selectable<ApiKeyTable>

type Tx = Transaction<GatewayTables>
type Read = Kysely<GatewayTables>

export async function insertApiKey(tx: Tx, draft: Insertable<ApiKeyTable>): Promise<ApiKeyRow> {
  return await tx.insertInto('api_keys').values(draft).returningAll().executeTakeFirstOrThrow()
}

/** Finds a key by the hashes of its whole text, one per pepper. */
export async function findApiKeyByMac(db: Read, macs: readonly Buffer[]): Promise<ApiKeyRow | undefined> {
  return await db.selectFrom('api_keys').selectAll().where('mac', 'in', macs).executeTakeFirst()
}

export async function findApiKey(db: Read, id: string): Promise<ApiKeyRow | undefined> {
  if (!isPublicId(id)) return undefined
  return await db.selectFrom('api_keys').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Returns the oldest key with the role Admin that has not expired. */
export async function findFirstAdminKey(db: Read, nowMs: number): Promise<ApiKeyRow | undefined> {
  return await db
    .selectFrom('api_keys')
    .selectAll()
    .where('role', '=', 'Admin')
    .where((eb) => eb.or([eb('expires_at_ms', 'is', null), eb('expires_at_ms', '>', nowMs)]))
    .orderBy('position')
    .executeTakeFirst()
}

export const isUnexpired = ({ expires_at_ms }: Pick<ApiKeyRow, 'expires_at_ms'>, nowMs: number): boolean =>
  expires_at_ms === null || expires_at_ms > nowMs

/** Returns all keys, newest first. */
export async function listApiKeyRows(db: Read): Promise<ApiKeyRow[]> {
  return await db.selectFrom('api_keys').selectAll().orderBy('position', 'desc').execute()
}

export async function countApiKeys(db: Read): Promise<number> {
  const { count } = await db
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Returns the number of keys with the role Admin that have not expired. */
export async function countUnexpiredAdminKeys(db: Read, nowMs: number): Promise<number> {
  const { count } = await db
    .selectFrom('api_keys')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('role', '=', 'Admin')
    .where((eb) => eb.or([eb('expires_at_ms', 'is', null), eb('expires_at_ms', '>', nowMs)]))
    .executeTakeFirstOrThrow()
  return count
}

export async function deleteApiKey(tx: Tx, id: string): Promise<void> {
  await tx.deleteFrom('api_keys').where('id', '=', id).execute()
}

export async function deleteApiKeysCreatedBy(tx: Tx, createdById: string, exceptId: string | undefined): Promise<void> {
  const made = tx.deleteFrom('api_keys').where('created_by_id', '=', createdById)
  await (exceptId === undefined ? made : made.where('id', '!=', exceptId)).execute()
}

export async function updateApiKeyLastUsed(tx: Tx, id: string, nowMs: number): Promise<void> {
  await tx.updateTable('api_keys').set({ last_used_at_ms: nowMs }).where('id', '=', id).execute()
}
