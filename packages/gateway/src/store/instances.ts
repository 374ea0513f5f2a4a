import type { GatewayDb } from './tables.ts'

interface LiveInstance {
  readonly id: string
  readonly epoch: number
}

export interface InstanceRow extends LiveInstance {
  readonly seenAtMs: number
}

const LIVE_MS = 10_000
/** Deletes the rows of processes that crashed, so that the table stays small. */
const RETENTION_MS = 3_600_000

/**
 * Records that the process is alive and which epoch it runs (T-13). Call it immediately after the epoch changes, and
 * otherwise only every few seconds, because it costs a durable write.
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

/** Returns the instances that published their epoch in the last 10 s. */
export async function listLiveInstances(db: GatewayDb, nowMs: number): Promise<readonly LiveInstance[]> {
  return await db.read
    .selectFrom('gateway_instances')
    .select(['id', 'epoch'])
    .where('seen_at_ms', '>', nowMs - LIVE_MS)
    .orderBy('id')
    .execute()
}

/** Returns all instances by id, including those that have crashed within the last hour. */
export async function listInstances({ read }: Pick<GatewayDb, 'read'>): Promise<readonly InstanceRow[]> {
  return await read
    .selectFrom('gateway_instances')
    .select(['id', 'epoch', 'seen_at_ms as seenAtMs'])
    .orderBy('id')
    .execute()
}

export const isLive = ({ seenAtMs }: InstanceRow, nowMs: number): boolean => seenAtMs > nowMs - LIVE_MS

/** Removes an instance that shuts down, so that changes no longer wait for it. */
export async function removeInstance(db: GatewayDb, instanceId: string): Promise<void> {
  await db.write((tx) => tx.deleteFrom('gateway_instances').where('id', '=', instanceId).execute())
}
