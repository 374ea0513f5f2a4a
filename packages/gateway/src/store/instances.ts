import type { GatewayDb } from '../operation-context.ts'

export interface LiveInstance {
  readonly id: string
  readonly epoch: number
}

const LIVE_MS = 10_000
/** A process that died without a word is forgotten, so that the table holds only the living and the recently dead. */
const RETENTION_MS = 3_600_000

/**
 * Says that the process lives and which epoch it runs (T-13). To be said at once when the epoch changes, and otherwise
 * every few seconds: it costs a durable write.
 */
export async function publishEpoch(db: GatewayDb, instanceId: string, epoch: number, nowMs: number): Promise<void> {
  await db.write(async (tx) => {
    await tx
      .insertInto('gateway_instances')
      .values({ id: instanceId, epoch, seen_at_ms: nowMs })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ epoch, seen_at_ms: nowMs }))
      .execute()
    await tx
      .deleteFrom('gateway_instances')
      .where('seen_at_ms', '<', nowMs - RETENTION_MS)
      .execute()
  })
}

/** Those heard of in the last 10 s. */
export async function listLiveInstances(db: GatewayDb, nowMs: number): Promise<readonly LiveInstance[]> {
  return await db.read
    .selectFrom('gateway_instances')
    .select(['id', 'epoch'])
    .where('seen_at_ms', '>', nowMs - LIVE_MS)
    .orderBy('id')
    .execute()
}

/** Of a process that ends in order, so that nobody waits for it. */
export async function removeInstance(db: GatewayDb, instanceId: string): Promise<void> {
  await db.write((tx) => tx.deleteFrom('gateway_instances').where('id', '=', instanceId).execute())
}
