import type { Kysely, Selectable, Transaction } from 'kysely'
import type { EnforcementMode } from '../contract/snapshot.ts'
import type { EnforcementTable, GatewayTables } from './tables.ts'

export type EnforcementRow = Selectable<EnforcementTable>

/** Reads the row through a connection or a transaction. */
export async function getEnforcement(db: Kysely<GatewayTables>): Promise<EnforcementRow> {
  return await db.selectFrom('enforcement').selectAll().where('id', '=', 1).executeTakeFirstOrThrow()
}

interface EnforcementChange {
  readonly mode: EnforcementMode
  readonly graceUntilMs: number | null
  readonly changedById: string
}

/** Changes the mode and increases the epoch. */
export async function updateEnforcement(
  tx: Transaction<GatewayTables>,
  change: EnforcementChange,
  nowMs: number,
): Promise<void> {
  await tx
    .updateTable('enforcement')
    .set((eb) => ({
      mode: change.mode,
      grace_until_ms: change.graceUntilMs,
      changed_at_ms: nowMs,
      changed_by_id: change.changedById,
      epoch: eb('epoch', '+', 1),
    }))
    .where('id', '=', 1)
    .execute()
}

/** Increases the epoch. Call it in the transaction of every change that affects the data path (T-13). */
export async function bumpEpoch(tx: Transaction<GatewayTables>): Promise<void> {
  await tx
    .updateTable('enforcement')
    .set((eb) => ({ epoch: eb('epoch', '+', 1) }))
    .where('id', '=', 1)
    .execute()
}
