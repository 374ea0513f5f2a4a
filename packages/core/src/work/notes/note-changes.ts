import { DomainError } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { CallContext, Tx } from '../../base/operations/context.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { newDiscussionId } from './discussion-id.ts'
import {
  isResolvable,
  MAX_NOTES,
  type Note,
  type NotePosition,
  type NoteRecord,
  noteEvents,
  requireBody,
} from './note.ts'
import { requireCommenting, requireEditor, requireResolver } from './note-access.ts'
import {
  addToNotesCount,
  countNotesOn,
  deleteNote,
  insertNote,
  markReviewed,
  noteableColumns,
  notesWithUsers,
  updateNote,
} from './note-store.ts'
import type { Noteable, There } from './noteable.ts'

export type NotesTx = Tx & CallContext & There

interface NewNote {
  readonly body: string
  readonly createdAt?: number | undefined
  readonly isInternal: boolean
  readonly kind: NoteRecord['kind']
  /** Default: a new one. */
  readonly discussionId?: string | undefined
  readonly position?: NotePosition | undefined
  /** The commit that a note on a merge request refers to. */
  readonly commitSha?: string | undefined
}

/** Adds a note of the actor. @throws DomainError `forbidden`, `invalid`, `refused` */
export async function addNote(tx: NotesTx, noteable: Noteable, draft: NewNote): Promise<Note> {
  const { isInternal, createdAt } = draft
  await requireCommenting(tx, noteable, { isInternal, hasOwnTime: createdAt !== undefined })
  requireBody(draft.body)
  if ((await countNotesOn(tx, noteable)) >= MAX_NOTES) {
    throw new DomainError({ code: 'refused', message: 'Maximum number of comments exceeded' })
  }
  const columns = noteableColumns(noteable)
  const note = await insertNote(tx, {
    ...columns,
    commitSha: columns.commitSha ?? draft.commitSha,
    discussionId: draft.discussionId ?? newDiscussionId(tx.core),
    kind: draft.kind,
    body: draft.body,
    authorId: tx.actor!.id,
    updatedById: undefined,
    isSystem: false,
    isInternal,
    position: draft.position,
    resolvedById: undefined,
    resolvedAtMs: undefined,
    createdAtMs: createdAt ?? tx.nowMs,
    updatedAtMs: createdAt ?? tx.nowMs,
  })
  await addToNotesCount(tx, noteable, 1)
  // There are no drafts of comments: a reviewer's comment is a review.
  if (noteable.type === 'merge_request') await markReviewed(tx, noteable.id!, tx.actor!.id)
  await recordChange(tx, noteEvents, 'created', { after: note, projectId: note.projectId })
  return withUsers(tx, noteable, note)
}

/** @throws DomainError `forbidden`, `invalid` */
export async function editNote(tx: NotesTx, noteable: Noteable, before: Note, body: string): Promise<Note> {
  await requireEditor(tx, noteable, before)
  requireBody(body)
  if (body === before.body) return before
  const columns = { body, updated_by_id: tx.actor!.id, updated_at_ms: tx.nowMs }
  const after = await updateNote(tx, before.id, columns)
  await recordChange(tx, noteEvents, 'updated', { before, after, projectId: after.projectId })
  return withUsers(tx, noteable, after)
}

/** @throws DomainError `forbidden`, `changed_since` */
export async function removeNote(tx: NotesTx, noteable: Noteable, before: Note): Promise<void> {
  await requireEditor(tx, noteable, before)
  tx.requireUnmodified(before.updatedAtMs)
  await deleteNote(tx, before.id)
  await addToNotesCount(tx, noteable, -1)
  await recordChange(tx, noteEvents, 'removed', { before, projectId: before.projectId })
}

/**
 * Resolves notes of a discussion, or opens them again. Those that cannot be resolved stay as they are.
 *
 * @throws DomainError `forbidden`; `refused` if none can be resolved
 */
export async function resolveNotes(
  tx: NotesTx,
  noteable: Noteable,
  notes: readonly Note[],
  isResolved: boolean,
): Promise<Note[]> {
  await requireResolver(tx, noteable, notes)
  if (!notes.some(isResolvable))
    throw new DomainError({ code: 'refused', message: 'The discussion cannot be resolved' })
  const resolution = isResolved
    ? { resolved_by_id: tx.actor!.id, resolved_at_ms: tx.nowMs }
    : { resolved_by_id: null, resolved_at_ms: null }
  const changed: Note[] = []
  for (const before of notes) {
    if (!isResolvable(before) || (before.resolvedAtMs !== undefined) === isResolved) {
      changed.push(before)
      continue
    }
    const after = await updateNote(tx, before.id, resolution)
    const what = isResolved ? 'resolved' : 'unresolved'
    await recordChange(tx, noteEvents, what, { before, after, projectId: after.projectId })
    changed.push(await withUsers(tx, noteable, after))
  }
  return changed
}

/** Returns a stored note with its author and the user who resolved it. */
const withUsers = async (context: ReadContext, noteable: Noteable, note: NoteRecord): Promise<Note> =>
  (await notesWithUsers(context, [note], noteable))[0]!
