import { type ExpressionBuilder, type Selectable, sql, type Updateable } from 'kysely'
import { type ColumnsOf, fromRow, toRow } from '../../base/kit/field-table.ts'
import { type Page, type PageRequest, pageOf } from '../../base/kit/page.ts'
import { deleteRow, insertRow, updateRow } from '../../base/kit/row-store.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CoreTables } from '../../base/kit/tables.ts'
import type { Tx } from '../../base/operations/context.ts'
import { findUsers } from '../../identity/users/user-store.ts'
import { type activityFilters, type Discussion, type Note, type NoteRecord, noteFields } from './note.ts'
import type { Noteable } from './noteable.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    notes: NotesTable
  }
}

interface NotesTable extends ColumnsOf<typeof noteFields> {}

/** Selects the notes of a list. */
export interface NoteFilter {
  readonly withInternal: boolean
  readonly activity?: (typeof activityFilters)[number]
}

const columns = { issue: 'issue_id', merge_request: 'merge_request_id', snippet: 'snippet_id' } as const

/** Holds for the notes on one thing. */
const isOn =
  ({ type, id, projectId, sha }: Noteable) =>
  (eb: ExpressionBuilder<CoreTables, 'notes'>) =>
    type === 'commit'
      ? eb.and([eb('project_id', '=', projectId), eb('commit_sha', '=', sha!), eb('noteable_type', '=', type)])
      : eb(columns[type], '=', id!)

const notesOn = ({ db }: ReadContext, noteable: Noteable, { withInternal, activity = 'all_notes' }: NoteFilter) =>
  db
    .selectFrom('notes')
    .where(isOn(noteable))
    .$if(!withInternal, (query) => query.where('is_internal', '=', 0))
    .$if(activity !== 'all_notes', (query) => query.where('is_system', '=', Number(activity === 'only_activity')))

export async function pageOfNotes(
  context: ReadContext,
  noteable: Noteable,
  filter: NoteFilter,
  page: PageRequest & { readonly orderBy: 'created_at' | 'updated_at'; readonly sort: 'asc' | 'desc' },
): Promise<Page<Note>> {
  const query = notesOn(context, noteable, filter)
    .selectAll()
    .orderBy(`${page.orderBy}_ms`, page.sort)
    .orderBy('id', page.sort)
  const rows = await pageOf(context, query, page)
  return { ...rows, items: await notesOfRows(context, rows.items, noteable) }
}

/** Returns a page of discussions, those with the oldest notes first. */
export async function pageOfDiscussions(
  context: ReadContext,
  noteable: Noteable,
  filter: NoteFilter,
  page: PageRequest,
): Promise<Page<Discussion>> {
  const query = notesOn(context, noteable, filter)
    .select(['discussion_id', sql<number>`min(created_at_ms)`.as('began_at'), sql<number>`min(id)`.as('first_id')])
    .groupBy('discussion_id')
    .orderBy('began_at')
    .orderBy('first_id')
  const found = await pageOf(context, query, page)
  const ids = found.items.map((row) => row.discussion_id)
  const notes = await notesOfDiscussions(context, noteable, filter, ids)
  return { ...found, items: ids.map((id) => ({ id, notes: notes.filter(({ discussionId }) => discussionId === id) })) }
}

/** Returns the notes of discussions, the oldest first. A thing has at most `MAX_NOTES`. */
export async function notesOfDiscussions(
  context: ReadContext,
  noteable: Noteable,
  filter: NoteFilter,
  ids: readonly string[],
): Promise<Note[]> {
  if (ids.length === 0) return []
  const rows = await notesOn(context, noteable, filter)
    .selectAll()
    .where('discussion_id', 'in', [...ids])
    .orderBy('created_at_ms')
    .orderBy('id')
    .execute()
  return notesOfRows(context, rows, noteable)
}

export async function findNoteOn(
  context: ReadContext,
  noteable: Noteable,
  filter: NoteFilter,
  id: number,
): Promise<Note | undefined> {
  const rows = await notesOn(context, noteable, filter).selectAll().where('id', '=', id).execute()
  return (await notesOfRows(context, rows, noteable))[0]
}

/** Returns a note of any project, without a check of permissions. */
export async function findNote({ db }: Pick<ReadContext, 'db'>, id: number): Promise<NoteRecord | undefined> {
  const row = await db.selectFrom('notes').selectAll().where('id', '=', id).executeTakeFirst()
  return row && fromRow(noteFields, row)
}

/** Counts all notes on a thing, internal ones and those of the service included. */
export async function countNotesOn({ db }: ReadContext, noteable: Noteable): Promise<number> {
  const counted = db
    .selectFrom('notes')
    .where(isOn(noteable))
    .select(({ fn }) => fn.countAll<number>().as('count'))
  return Number((await counted.executeTakeFirstOrThrow()).count)
}

/** Returns the merge requests with a discussion that is not resolved. */
export async function mergeRequestsWithOpenDiscussions(
  { db }: ReadContext,
  mergeRequestIds: readonly number[],
): Promise<ReadonlySet<number>> {
  if (mergeRequestIds.length === 0) return new Set()
  const rows = await db
    .selectFrom('notes')
    .select('merge_request_id')
    .distinct()
    .where('merge_request_id', 'in', [...mergeRequestIds])
    .where('kind', '!=', 'individual')
    .where('is_system', '=', 0)
    .where('resolved_at_ms', 'is', null)
    .execute()
  return new Set(rows.map((row) => row.merge_request_id!))
}

const notesOfRows = (
  context: ReadContext,
  rows: readonly Selectable<NotesTable>[],
  noteable: Pick<Noteable, 'iid'>,
): Promise<Note[]> =>
  notesWithUsers(
    context,
    rows.map((row) => fromRow(noteFields, row)),
    noteable,
  )

/** Returns notes on one thing with their users. */
export async function notesWithUsers(
  context: ReadContext,
  records: readonly NoteRecord[],
  { iid: noteableIid }: Pick<Noteable, 'iid'>,
): Promise<Note[]> {
  const users = await findUsers(
    context,
    records.flatMap(({ authorId, resolvedById }) => [authorId ?? [], resolvedById ?? []].flat()),
  )
  return records.map((record) => ({
    ...record,
    author: users.get(record.authorId ?? 0),
    resolvedBy: users.get(record.resolvedById ?? 0),
    noteableIid,
  }))
}

const { id: _, ...stored } = noteFields

type NoteDraft = Omit<NoteRecord, 'id'>

/** Returns the columns that say what a note is about. */
export const noteableColumns = ({ type, id, projectId, sha }: Pick<Noteable, 'type' | 'id' | 'projectId' | 'sha'>) => ({
  projectId,
  noteableType: type,
  issueId: type === 'issue' ? id : undefined,
  mergeRequestId: type === 'merge_request' ? id : undefined,
  snippetId: type === 'snippet' ? id : undefined,
  commitSha: sha,
})

export async function insertNote(tx: Pick<Tx, 'db'>, draft: NoteDraft): Promise<NoteRecord> {
  return fromRow(noteFields, await insertRow(tx, 'notes', toRow(stored, draft)))
}

export async function updateNote(tx: Pick<Tx, 'db'>, id: number, changes: Updateable<NotesTable>): Promise<NoteRecord> {
  return fromRow(noteFields, await updateRow(tx, 'notes', id, changes))
}

export const deleteNote = (tx: Pick<Tx, 'db'>, id: number) => deleteRow(tx, 'notes', id)

/** Changes the number of notes that an issue or merge request shows, and its time of change. */
export async function addToNotesCount(
  { db, nowMs }: Tx,
  { type, id }: Pick<Noteable, 'type' | 'id'>,
  added: number,
): Promise<void> {
  if (type !== 'issue' && type !== 'merge_request') return
  await db
    .updateTable(type === 'issue' ? 'issues' : 'merge_requests')
    .set({ user_notes_count: sql<number>`user_notes_count + ${added}`, updated_at_ms: nowMs })
    .where('id', '=', id!)
    .execute()
}

/** Marks the review of a reviewer who has not begun or not finished one as `reviewed`. */
export async function markReviewed({ db, nowMs }: Tx, mergeRequestId: number, userId: number): Promise<void> {
  await db
    .updateTable('merge_request_reviewers')
    .set({ state: 'reviewed', updated_at_ms: nowMs })
    .where('merge_request_id', '=', mergeRequestId)
    .where('user_id', '=', userId)
    .where('state', 'in', ['unreviewed', 'review_started'])
    .execute()
}
