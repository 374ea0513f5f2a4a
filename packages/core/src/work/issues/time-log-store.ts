import { type Generated, sql } from 'kysely'
import type { Tx } from '../../base/operations/context.ts'
import type { IssuableTables } from './issuable-tables.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    timelogs: TimelogsTable
  }
}

interface TimelogsTable {
  id: Generated<number>
  issue_id: number | null
  merge_request_id: number | null
  user_id: number | null
  /** Negative if time is subtracted. */
  seconds: number
  summary: string | null
  spent_at_ms: number
}

interface TimeLogDraft {
  readonly seconds: number
  readonly summary: string | undefined
  readonly userId: number
}

export async function setTimeEstimate(
  { db, nowMs }: Tx,
  { items }: Pick<IssuableTables, 'items'>,
  id: number,
  seconds: number,
): Promise<void> {
  await db
    .updateTable(items)
    .set({ time_estimate_seconds: seconds, updated_at_ms: nowMs })
    .where('id', '=', id)
    .execute()
}

/** Adds a time log to an item, and its time to the item's total. */
export async function insertTimeLog(
  { db, nowMs }: Tx,
  { items }: Pick<IssuableTables, 'items'>,
  id: number,
  { seconds, summary, userId }: TimeLogDraft,
): Promise<void> {
  const owner = items === 'issues' ? { issue_id: id, merge_request_id: null } : { issue_id: null, merge_request_id: id }
  await db
    .insertInto('timelogs')
    .values({ ...owner, user_id: userId, seconds, summary: summary ?? null, spent_at_ms: nowMs })
    .execute()
  await db
    .updateTable(items)
    .set({ time_spent_seconds: sql<number>`time_spent_seconds + ${seconds}`, updated_at_ms: nowMs })
    .where('id', '=', id)
    .execute()
}
