import type { Generated } from 'kysely'
import { DAY_MS } from '../../base/kit/day.ts'
import { insertRow } from '../../base/kit/row-store.ts'
import type { ReadContext, WriteContext } from '../../base/kit/store-context.ts'
import type { HookSwitchName } from './hook-switches.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    hook_payloads: HookPayloadsTable
    hook_chains: HookChainsTable
  }
}

/** An event on its way to hooks. Its row is deleted after the last call. */
interface HookPayloadsTable {
  id: Generated<number>
  project_id: number
  /** The name of the switch. */
  event: string
  event_uuid: string
  /** JSON. */
  data: string
  /** The calls that have not been made yet. */
  pending: number
  created_at_ms: number
}

/** The hooks that were called within a chain: the receiver of the first called the API, which called the second, and so on. */
interface HookChainsTable {
  event_uuid: string
  hook_id: number
  expires_at_ms: number
}

export interface HookPayload {
  readonly id: number
  readonly projectId: number
  readonly event: HookSwitchName
  readonly eventUuid: string
  readonly data: string
}

/** How long an event waits for its deliveries, also while the service is down. */
export const KEPT_PAYLOADS_MS = 14 * DAY_MS
const CHAIN_MS = 30 * 60_000
/** The maximum number of hooks in a chain. */
const MAX_CHAIN = 100

export async function insertHookPayload(
  { db, nowMs }: WriteContext,
  payload: Omit<HookPayload, 'id'>,
  pending: number,
): Promise<number> {
  const { projectId, event, eventUuid, data } = payload
  const row = await insertRow({ db }, 'hook_payloads', {
    project_id: projectId,
    event,
    event_uuid: eventUuid,
    data,
    pending,
    created_at_ms: nowMs,
  })
  return row.id
}

export async function findHookPayload({ db }: ReadContext, id: number): Promise<HookPayload | undefined> {
  const row = await db.selectFrom('hook_payloads').selectAll().where('id', '=', id).executeTakeFirst()
  return (
    row && {
      id: row.id,
      projectId: row.project_id,
      event: row.event as HookSwitchName,
      eventUuid: row.event_uuid,
      data: row.data,
    }
  )
}

/** Counts a call of a payload as made, and deletes the payload after the last one. */
export async function releaseHookPayload({ db }: Pick<WriteContext, 'db'>, id: number): Promise<void> {
  const row = await db
    .updateTable('hook_payloads')
    .set((eb) => ({ pending: eb('pending', '-', 1) }))
    .where('id', '=', id)
    .returning('pending')
    .executeTakeFirst()
  if (row !== undefined && row.pending <= 0) await db.deleteFrom('hook_payloads').where('id', '=', id).execute()
}

/**
 * Adds a hook to a chain of events, which lasts for half an hour after the last call. Returns `false` if the hook has
 * been called in this chain before, or the chain is full.
 */
export async function joinHookChain({ db, nowMs }: WriteContext, eventUuid: string, hookId: number): Promise<boolean> {
  const rows = await db
    .selectFrom('hook_chains')
    .select('hook_id')
    .where('event_uuid', '=', eventUuid)
    .where('expires_at_ms', '>', nowMs)
    .limit(MAX_CHAIN)
    .execute()
  if (rows.length >= MAX_CHAIN || rows.some(({ hook_id }) => hook_id === hookId)) return false
  const expires_at_ms = nowMs + CHAIN_MS
  await db
    .insertInto('hook_chains')
    .values({ event_uuid: eventUuid, hook_id: hookId, expires_at_ms })
    .onConflict((conflict) => conflict.columns(['event_uuid', 'hook_id']).doUpdateSet({ expires_at_ms }))
    .execute()
  await db.updateTable('hook_chains').set({ expires_at_ms }).where('event_uuid', '=', eventUuid).execute()
  return true
}

/** Deletes chains that have ended, and payloads that have waited for too long. */
export async function deleteExpiredHookEvents({ db, nowMs }: WriteContext): Promise<void> {
  await db.deleteFrom('hook_chains').where('expires_at_ms', '<=', nowMs).execute()
  await db
    .deleteFrom('hook_payloads')
    .where('created_at_ms', '<', nowMs - KEPT_PAYLOADS_MS)
    .execute()
}
