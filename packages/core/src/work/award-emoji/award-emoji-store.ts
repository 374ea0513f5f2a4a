import { type Selectable, sql } from 'kysely'
import { type ColumnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { type Page, type PageRequest, pageOf } from '../../base/kit/page.ts'
import { deleteRow, insertRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Tx } from '../../base/operations/context.ts'
import { findUsers } from '../../identity/users/user-store.ts'
import {
  type AwardableType,
  type AwardEmoji,
  type AwardEmojiRecord,
  awardEmojiFields,
  voteColumns,
} from './award-emoji.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    award_emoji: AwardEmojiTable
  }
}

interface AwardEmojiTable extends ColumnsOf<typeof awardEmojiFields> {}

/** The issue, merge request, snippet or note of a reaction. */
export interface Awardable {
  readonly type: AwardableType
  readonly id: number
  readonly projectId: number
}

const columns = {
  issue: 'issue_id',
  merge_request: 'merge_request_id',
  snippet: 'snippet_id',
  note: 'note_id',
} as const satisfies Record<AwardableType, string>

const awardsOf = ({ db }: ReadContext, { type, id }: Awardable) =>
  db.selectFrom('award_emoji').selectAll().where(columns[type], '=', id)

/** Returns a page of the reactions, the oldest first. */
export async function pageOfAwards(
  context: ReadContext,
  awardable: Awardable,
  page: PageRequest,
): Promise<Page<AwardEmoji>> {
  const rows = await pageOf(context, awardsOf(context, awardable).orderBy('id'), page)
  return { ...rows, items: await awardsOfRows(context, rows.items) }
}

export async function findAward(
  context: ReadContext,
  awardable: Awardable,
  id: number,
): Promise<AwardEmoji | undefined> {
  const rows = await awardsOf(context, awardable).where('id', '=', id).execute()
  return (await awardsOfRows(context, rows))[0]
}

export async function hasAward(
  context: ReadContext,
  awardable: Awardable,
  { userId, name }: { readonly userId: number; readonly name: string },
): Promise<boolean> {
  const query = awardsOf(context, awardable).where('user_id', '=', userId).where('name', '=', name)
  return (await query.executeTakeFirst()) !== undefined
}

async function awardsOfRows(context: ReadContext, rows: readonly Selectable<AwardEmojiTable>[]): Promise<AwardEmoji[]> {
  const records = rows.map((row) => fromRow(awardEmojiFields, row))
  const users = await findUsers(
    context,
    records.flatMap(({ userId }) => userId ?? []),
  )
  return records.map((record) => ({ ...record, user: users.get(record.userId ?? 0) }))
}

const { id: _, ...stored } = awardEmojiFields

/** Adds a reaction, and counts it if it is a vote. */
export async function insertAward(
  tx: Tx,
  { type, id, projectId }: Awardable,
  { userId, name }: { readonly userId: number; readonly name: string },
): Promise<AwardEmojiRecord> {
  const draft = {
    projectId,
    awardableType: type,
    issueId: type === 'issue' ? id : undefined,
    mergeRequestId: type === 'merge_request' ? id : undefined,
    snippetId: type === 'snippet' ? id : undefined,
    noteId: type === 'note' ? id : undefined,
    userId,
    name,
    createdAtMs: tx.nowMs,
    updatedAtMs: tx.nowMs,
  }
  const award = fromRow(awardEmojiFields, await insertRow(tx, 'award_emoji', toRow(stored, draft)))
  await addToVotes(tx, { type, id }, name, 1)
  return award
}

export async function deleteAward(
  tx: Tx,
  awardable: Awardable,
  { id, name }: Pick<AwardEmojiRecord, 'id' | 'name'>,
): Promise<void> {
  await deleteRow(tx, 'award_emoji', id)
  await addToVotes(tx, awardable, name, -1)
}

async function addToVotes(
  { db }: Tx,
  { type, id }: Pick<Awardable, 'type' | 'id'>,
  name: string,
  added: number,
): Promise<void> {
  const column = voteColumns[name]
  if (column === undefined || (type !== 'issue' && type !== 'merge_request')) return
  await db
    .updateTable(type === 'issue' ? 'issues' : 'merge_requests')
    .set({ [column]: sql<number>`${sql.ref(column)} + ${added}` })
    .where('id', '=', id)
    .execute()
}
