import type { Transaction } from 'kysely'
import type { GatewayTables } from '../store/tables.ts'
import type { OperationContext } from './operation-context.ts'

const RETENTION_MS = 24 * 60 * 60 * 1000

/** Thrown inside the transaction, so that nothing is created a second time. */
export class AlreadyCreated extends Error {
  readonly id: string
  constructor(id: string) {
    super('already created')
    this.id = id
  }
}

/**
 * Runs the transaction that creates something, and stores the caller's key and the created id in it, so that neither a crash nor
 * concurrent requests can create twice.
 *
 * @throws {AlreadyCreated} if the caller has created something with the same key in the last 24 h
 */
export function writeOnce<Result>(
  { db, actor, idempotencyKey, nowMs }: OperationContext,
  createdId: string,
  work: (tx: Transaction<GatewayTables>) => Promise<Result>,
): Promise<Result> {
  if (idempotencyKey === undefined) return db.write(work)
  const createdAtMs = nowMs()
  return db.write(async (tx) => {
    await tx
      .deleteFrom('idempotency_keys')
      .where('created_at_ms', '<=', createdAtMs - RETENTION_MS)
      .execute()
    const before = await tx
      .selectFrom('idempotency_keys')
      .select('token_id')
      .where('caller_id', '=', actor.id)
      .where('key', '=', idempotencyKey)
      .executeTakeFirst()
    if (before) throw new AlreadyCreated(before.token_id)
    const result = await work(tx)
    const row = { caller_id: actor.id, key: idempotencyKey, token_id: createdId, created_at_ms: createdAtMs }
    await tx.insertInto('idempotency_keys').values(row).execute()
    return result
  })
}
