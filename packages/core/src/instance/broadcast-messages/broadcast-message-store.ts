import { sql } from 'kysely'
import { isOneOf } from '../../base/kit/conditions.ts'
import { notFound } from '../../base/kit/domain-error.ts'
import { type ColumnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { type Page, type PageRequest, pageOfItems } from '../../base/kit/page.ts'
import { deleteRow, insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Tx } from '../../base/operations/context.ts'
import {
  type BroadcastMessage,
  type BroadcastMessageDraft,
  broadcastMessageDraft,
  broadcastMessageFields,
} from './broadcast-message.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    broadcast_messages: BroadcastMessagesTable
  }
}

interface BroadcastMessagesTable extends ColumnsOf<typeof broadcastMessageFields> {}

/** The limit of active messages that are read. If there are more, those that end last are read. */
const MAX_ACTIVE = 1_000

/** Returns a page of messages, the newest first. */
export function pageOfMessages(context: ReadContext, page: PageRequest): Promise<Page<BroadcastMessage>> {
  const query = context.db.selectFrom('broadcast_messages').selectAll().orderBy('id', 'desc')
  return pageOfItems(context, query, page, (row) => fromRow(broadcastMessageFields, row))
}

/** @throws DomainError `not_found` */
export async function getMessage({ db }: ReadContext, id: number): Promise<BroadcastMessage> {
  const row = await db.selectFrom('broadcast_messages').selectAll().where('id', '=', id).executeTakeFirst()
  if (row === undefined) throw notFound()
  return fromRow(broadcastMessageFields, row)
}

/** Returns the targets and ends of the active messages for all roles, the newest first. */
export async function activeMessagesForAll({ db, nowMs }: ReadContext) {
  const rows = await db
    .selectFrom('broadcast_messages')
    .select(['id', 'target_path', 'dismissable', 'ends_at_ms'])
    .where('ends_at_ms', '>=', nowMs)
    .where('starts_at_ms', '<=', nowMs)
    .where('target_access_levels', '=', '[]')
    .orderBy('ends_at_ms', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_ACTIVE)
    .execute()
  return rows
    .map((row) => ({
      id: row.id,
      targetPath: row.target_path ?? undefined,
      isDismissable: row.dismissable === 1,
      endsAtMs: row.ends_at_ms,
    }))
    .toSorted((one, other) => other.id - one.id)
}

/** Returns the messages with these ids, the oldest first. */
export async function messagesByIds({ db }: ReadContext, ids: readonly number[]): Promise<BroadcastMessage[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('broadcast_messages')
    .selectAll()
    .where(isOneOf(sql.ref('id'), ids))
    .orderBy('id')
    .execute()
  return rows.map((row) => fromRow(broadcastMessageFields, row))
}

export async function insertMessage(tx: Tx, draft: BroadcastMessageDraft): Promise<BroadcastMessage> {
  const columns = { ...toRow(broadcastMessageDraft, draft), updated_at_ms: tx.nowMs }
  return fromRow(broadcastMessageFields, await insertRow(tx, 'broadcast_messages', columns))
}

export async function updateMessage(tx: Tx, id: number, draft: BroadcastMessageDraft): Promise<BroadcastMessage> {
  const columns = { ...toRow(broadcastMessageDraft, draft), updated_at_ms: tx.nowMs }
  return fromRow(broadcastMessageFields, await updateRow(tx, 'broadcast_messages', id, columns))
}

export const deleteMessage = (tx: Tx, id: number) => deleteRow(tx, 'broadcast_messages', id)
