import { can, canComment } from '../../base/access/can.ts'
import { requirePermission, standingOf } from '../../base/access/subject.ts'
import { forbidden } from '../../base/kit/domain-error.ts'
import type { NoteRecord } from './note.ts'
import type { NoteFilter } from './note-store.ts'
import type { Noteable, There } from './noteable.ts'

/** Returns the notes that the actor may read, of those on something that the actor may read. */
export async function readableNotes(context: There): Promise<Pick<NoteFilter, 'withInternal'>> {
  return { withInternal: can(await standingOf(context, context.actor, context.subject), 'read_internal_note') }
}

/** @throws DomainError `forbidden` */
export async function requireCommenting(
  context: There,
  noteable: Noteable,
  { isInternal, hasOwnTime }: { readonly isInternal: boolean; readonly hasOwnTime: boolean },
): Promise<void> {
  const standing = await standingOf(context, context.actor, context.subject)
  if (!canComment(standing, noteable)) throw forbidden()
  if (isInternal) await requirePermission(context, context.subject, 'read_internal_note')
  if (hasOwnTime) await requirePermission(context, context.subject, 'set_note_time')
}

/** Requires the actor to be the author of the note, or to have the permission to change the notes of others. @throws DomainError `forbidden` */
export async function requireEditor(context: There, noteable: Noteable, note: NoteRecord): Promise<void> {
  if (note.isSystem) throw forbidden()
  const standing = await standingOf(context, context.actor, context.subject)
  if (can(standing, 'admin_note')) return
  if (note.authorId !== context.actor?.id || !canComment(standing, noteable)) throw forbidden()
}

/**
 * Developers, the author of the merge request and the author of the first note resolve a discussion. A reply gives no right
 * to it: anyone who may comment could resolve what blocks a merge.
 *
 * @throws DomainError `forbidden`
 */
export async function requireResolver(context: There, noteable: Noteable, notes: readonly NoteRecord[]): Promise<void> {
  const standing = await standingOf(context, context.actor, context.subject)
  if (can(standing, 'resolve_note')) return
  const isOwn = [noteable.authorId, notes[0]?.authorId].includes(context.actor!.id)
  if (!isOwn || !canComment(standing, noteable)) throw forbidden()
}
