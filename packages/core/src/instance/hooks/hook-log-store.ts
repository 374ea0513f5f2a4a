import { type Generated, type RawBuilder, type Selectable, sql } from 'kysely'
import { DAY_MS } from '../../base/kit/day.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { type Page, type PageRequest, pageOfItems } from '../../base/kit/page.ts'
import { insertRow } from '../../base/kit/row-store.ts'
import type { ReadContext, WriteContext } from '../../base/kit/store-context.ts'
import {
  type CallWithoutData,
  type HookCallEnd,
  type HookCallStart,
  KEPT_DAYS,
  SERVED_DAYS,
  type StoredHookCall,
  statusRangesOf,
} from './hook-log.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    hook_calls: HookCallsTable
  }
}

interface HookCallsTable {
  id: Generated<number>
  hook_id: number
  /** The event that caused the call; null for tests and repeated calls. */
  payload_id: number | null
  trigger: string
  url: string
  url_digest: string
  idempotency_key: string
  request_headers: string
  request_data: string
  response_status: number | null
  internal_error: string | null
  response_headers: string
  response_body: string
  duration_ms: number
  created_at_ms: number
  /** Null while the answer is awaited. */
  ended_at_ms: number | null
}

/** Returns a page of the calls of a hook that have ended, newest first. */
export function pageOfHookCalls(
  context: ReadContext,
  hookId: number,
  statuses: readonly string[] | undefined,
  page: PageRequest,
): Promise<Page<StoredHookCall>> {
  const query = context.db
    .selectFrom('hook_calls')
    .selectAll()
    .where('hook_id', '=', hookId)
    .where('created_at_ms', '>=', servedSinceMs(context))
    .where('ended_at_ms', 'is not', null)
    .$if(statuses !== undefined && statuses.length > 0, (all) =>
      all.where((eb) =>
        eb.or(
          statusRangesOf(statuses!).map((range) =>
            range === undefined
              ? eb('response_status', 'is', null)
              : eb.and([eb('response_status', '>=', range[0]), eb('response_status', '<=', range[1])]),
          ),
        ),
      ),
    )
    .orderBy('created_at_ms', 'desc')
    .orderBy('id', 'desc')
  return pageOfItems(context, query, page, callOf)
}

/** Returns the time since which calls are listed: the beginning of the day that is `SERVED_DAYS` ago. */
export const servedSinceMs = ({ nowMs }: Pick<ReadContext, 'nowMs'>): number =>
  nowMs - (nowMs % DAY_MS) - SERVED_DAYS * DAY_MS

/** @throws DomainError `not_found`, also for a call of another hook */
export async function getHookCall({ db }: ReadContext, hookId: number, id: number): Promise<StoredHookCall> {
  const row = await db
    .selectFrom('hook_calls')
    .selectAll()
    .where('id', '=', id)
    .where('hook_id', '=', hookId)
    .where('ended_at_ms', 'is not', null)
    .executeTakeFirst()
  if (row === undefined) throw notFound()
  return callOf(row)
}

/** Stores a call before it is sent. Returns its id. */
export async function insertHookCall(
  { db, nowMs }: WriteContext,
  call: HookCallStart,
  payloadId?: number,
): Promise<number> {
  const row = await insertRow({ db }, 'hook_calls', {
    hook_id: call.hookId,
    payload_id: payloadId ?? null,
    trigger: call.trigger,
    url: call.url,
    url_digest: call.urlDigest,
    idempotency_key: call.idempotencyKey,
    request_headers: JSON.stringify(call.requestHeaders),
    request_data: call.requestData,
    response_status: null,
    internal_error: null,
    response_headers: '{}',
    response_body: '',
    duration_ms: 0,
    created_at_ms: nowMs,
    ended_at_ms: null,
  })
  return row.id
}

/** Stores the end of a call, unless it is stored already. */
export async function endHookCall({ db, nowMs }: WriteContext, id: number, end: HookCallEnd): Promise<void> {
  await db
    .updateTable('hook_calls')
    .set({
      response_status: end.status ?? null,
      internal_error: end.internalError ?? null,
      response_headers: JSON.stringify(end.responseHeaders),
      response_body: end.responseBody,
      duration_ms: end.durationMs,
      ended_at_ms: nowMs,
    })
    .where('id', '=', id)
    .where('ended_at_ms', 'is', null)
    .execute()
}

/** Returns the call that an event has already caused, with whether it has ended. */
export async function findCallOfPayload(
  { db }: ReadContext,
  payloadId: number,
  hookId: number,
): Promise<{ readonly id: number; readonly hasEnded: boolean } | undefined> {
  const row = await db
    .selectFrom('hook_calls')
    .select(['id', 'ended_at_ms'])
    .where('payload_id', '=', payloadId)
    .where('hook_id', '=', hookId)
    .executeTakeFirst()
  return row && { id: row.id, hasEnded: row.ended_at_ms !== null }
}

/** Deletes at most `limit` calls of a hook, and returns how many it deleted. The sweep deletes those of removed hooks. */
export async function deleteCallsOfHook(
  { db }: Pick<WriteContext, 'db'>,
  hookId: number,
  limit: number,
): Promise<number> {
  const some = db.selectFrom('hook_calls').select('id').where('hook_id', '=', hookId).limit(limit)
  const { numDeletedRows } = await db.deleteFrom('hook_calls').where('id', 'in', some).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Deletes at most `limit` calls that are older than the log, and returns how many it deleted. */
export async function deleteOldHookCalls({ db, nowMs }: WriteContext, limit: number): Promise<number> {
  const old = db
    .selectFrom('hook_calls')
    .select('id')
    .where('created_at_ms', '<', nowMs - KEPT_DAYS * DAY_MS)
    .orderBy('created_at_ms')
    .limit(limit)
  const { numDeletedRows } = await db.deleteFrom('hook_calls').where('id', 'in', old).executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/**
 * Returns up to `limit` ids of hooks with calls in the log, in ascending order above `after`. The query steps from hook to hook
 * over the index, so its cost does not depend on the length of the log.
 */
export async function listCalledHookIds(
  { db }: Pick<ReadContext, 'db'>,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<number[]> {
  const next = (than: RawBuilder<unknown>) => sql`select min(hook_id) from hook_calls where hook_id > ${than}`
  const { rows } = await sql<{ id: number }>`
    with recursive called(id, position) as (
      select (${next(sql`${after}`)}), 1
      union all
      select (${next(sql`called.id`)}), position + 1 from called where called.id is not null and position < ${limit}
    )
    select id from called where id is not null order by id`.execute(db)
  return rows.map(({ id }) => Number(id))
}

/** Returns those of the ids that no hook has. */
export async function idsOfRemovedHooks({ db }: Pick<ReadContext, 'db'>, ids: readonly number[]): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await db.selectFrom('hooks').select('id').where('id', 'in', ids).execute()
  const existing = new Set(rows.map(({ id }) => id))
  return ids.filter((id) => !existing.has(id))
}

const callOf = (row: Selectable<HookCallsTable>): StoredHookCall => ({
  ...callWithoutDataOf(row),
  requestData: row.request_data,
})

/** Returns a call without its request data, which may be long. */
export function callWithoutDataOf(row: Omit<Selectable<HookCallsTable>, 'request_data'>): CallWithoutData {
  return {
    id: row.id,
    hookId: row.hook_id,
    trigger: row.trigger,
    url: row.url,
    urlDigest: row.url_digest,
    idempotencyKey: row.idempotency_key,
    requestHeaders: JSON.parse(row.request_headers) as Record<string, string>,
    status: row.response_status ?? undefined,
    internalError: row.internal_error ?? undefined,
    responseHeaders: JSON.parse(row.response_headers) as Record<string, string>,
    responseBody: row.response_body,
    durationMs: row.duration_ms,
    createdAtMs: row.created_at_ms,
  }
}
