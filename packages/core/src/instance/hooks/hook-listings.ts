import { sql } from 'kysely'
import { z } from 'zod'
import { listedEach, listingOf } from '../../base/kit/listing.ts'
import { instant } from '../../base/kit/parameter-schemas.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import { textsOfEach } from '../../base/operations/description-store.ts'
import { batchQuery, unscopedBatchQuery } from '../../base/operations/operation.ts'
import { type ShownHook, shownHook } from './hook.ts'
import { type CallWithoutData, OVERSIZE_DATA } from './hook-log.ts'
import { callWithoutDataOf, servedSinceMs } from './hook-log-store.ts'
import { findHook } from './hook-store.ts'

/** Returns the hook with this id of each project that has it. */
export const findHookOfEachProject = batchQuery(
  { name: 'findHookOfEachProject', input: z.object({ hookId: z.int() }), permission: 'read_hook' },
  (context, projects: readonly Project[], { hookId }): Promise<(ShownHook | undefined)[]> =>
    Promise.all(
      projects.map(async ({ id }) => {
        const hook = await findHook(context, hookId, id)
        return hook && shownHook(hook, context.nowMs)
      }),
    ),
)

/** A call in a list; `requestDataOfCalls` reads its request data. */
export interface ListedHookCall extends CallWithoutData {
  /** Whether the request data was too large for the log. */
  readonly isOversize: boolean
}

/** Both ends belong to the range. */
const timeRange = { start: instant.optional(), end: instant.optional() }
type TimeRange = z.output<z.ZodObject<typeof timeRange>>

/** Lists the calls of each hook in the past days, newest first. The caller may read the hooks. */
export const listCallsOfEachHook = unscopedBatchQuery(
  { name: 'listCallsOfEachHook', input: z.object(timeRange) },
  async (context, hooks: readonly ShownHook[], range) => {
    const listing = listingOf(
      context,
      hooks.map(({ id }) => callsBetween(context, id, range)),
      {
        order: [
          { column: 'created_at_ms', key: 'created_at_ms', direction: 'desc' },
          { column: 'id', key: 'id', direction: 'desc' },
        ],
        itemsOf: (rows) => rows.map(listedCallOf),
      },
    )
    return listedEach(listing, hooks.length)
  },
)

/** Returns the call with this id of each hook that has it in the list of `listCallsOfEachHook`. */
export const findCallOfEachHook = unscopedBatchQuery(
  { name: 'findCallOfEachHook', input: z.object({ callId: z.int(), ...timeRange }) },
  (context, hooks: readonly ShownHook[], { callId, ...range }): Promise<(ListedHookCall | undefined)[]> =>
    Promise.all(
      hooks.map(async ({ id }) => {
        const row = await callsBetween(context, id, range).where('id', '=', callId).executeTakeFirst()
        return row && listedCallOf(row)
      }),
    ),
)

/** Returns the request data of the first calls that fit into `maxBytes`. */
export const requestDataOfCalls = textsOfEach<ListedHookCall>('requestDataOfCalls', {
  table: 'hook_calls',
  column: 'request_data',
})

const callsBetween = (context: ReadContext, hookId: number, { start, end }: TimeRange) =>
  context.db
    .selectFrom('hook_calls')
    .select(['id', 'hook_id', 'payload_id', 'trigger', 'url', 'url_digest', 'idempotency_key', 'request_headers'])
    .select(['response_status', 'internal_error', 'response_headers', 'response_body', 'duration_ms'])
    .select(['created_at_ms', 'ended_at_ms'])
    .select(sql<number>`case when request_data = ${OVERSIZE_DATA} then 1 else 0 end`.as('is_oversize'))
    .where('hook_id', '=', hookId)
    .where('ended_at_ms', 'is not', null)
    .where('created_at_ms', '>=', Math.max(servedSinceMs(context), start ?? 0))
    .$if(end !== undefined, (query) => query.where('created_at_ms', '<=', end!))

type ListedRow = Awaited<ReturnType<ReturnType<typeof callsBetween>['executeTakeFirstOrThrow']>>

const listedCallOf = (row: ListedRow): ListedHookCall => ({
  ...callWithoutDataOf(row),
  isOversize: row.is_oversize === 1,
})
