import { z } from 'zod'
import { notFound } from '../../base/kit/domain-error.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { query, steps } from '../../base/operations/operation.ts'
import { activityFilters, internalInput, type Note, newNoteInput, noteOrders } from '../notes/note.ts'
import { readableNotes } from '../notes/note-access.ts'
import { addNote, editNote, removeNote } from '../notes/note-changes.ts'
import { findNoteOn, pageOfNotes } from '../notes/note-store.ts'
import type { Noteable, There } from '../notes/noteable.ts'
import { type NoteableKind, noteableKinds } from './noteable-kinds.ts'
import { noteLimits, onNoteable } from './on-noteable.ts'

const one = { noteId: z.int() }
const listInput = { ...noteOrders, activityFilter: z.enum(activityFilters).default('all_notes'), ...pageInput }

/** Returns the operations on the notes of issues, merge requests or snippets. */
function noteOperations(kind: NoteableKind) {
  const { noun } = kind
  const { head, find, change } = onNoteable(kind)
  // Snippets have no internal notes. The type has the parameters all the same, as they are optional.
  const newInput = { ...newNoteInput, ...(kind.hasInternalNotes ? internalInput : {}) } as typeof newNoteInput &
    typeof internalInput

  const getNote = async (context: There, noteable: Noteable, id: number): Promise<Note> => {
    const note = await findNoteOn(context, noteable, await readableNotes(context), id)
    if (note === undefined) throw notFound('Note')
    return note
  }

  return {
    list: query(
      { ...head(`listNotesOf${noun}`, listInput), caller: 'anyone' },
      async (context, { activityFilter: activity, ...input }): Promise<Page<Note>> =>
        pageOfNotes(context, await find(context, input), { ...(await readableNotes(context)), activity }, input),
    ),
    get: query(
      { ...head(`getNoteOf${noun}`, one), caller: 'anyone' },
      async (context, input): Promise<Note> => getNote(context, await find(context, input), input.noteId),
    ),
    create: steps(
      { ...head(`createNoteOn${noun}`, newInput), limits: noteLimits },
      (context, input): Promise<Note> =>
        change(context, input, (tx, noteable) =>
          addNote(tx, noteable, {
            body: input.body,
            createdAt: input.createdAt,
            isInternal: input.internal ?? input.confidential ?? false,
            kind: 'individual',
          }),
        ),
    ),
    update: steps(
      head(`updateNoteOf${noun}`, { ...one, body: z.string() }),
      (context, input): Promise<Note> =>
        change(context, input, async (tx, noteable) =>
          editNote(tx, noteable, await getNote(tx, noteable, input.noteId), input.body),
        ),
    ),
    remove: steps(
      { ...head(`removeNoteOf${noun}`, one), isConditional: true },
      (context, input): Promise<void> =>
        change(context, input, async (tx, noteable) =>
          removeNote(tx, noteable, await getNote(tx, noteable, input.noteId)),
        ),
    ),
  }
}

export const issueNotes = noteOperations(noteableKinds.issue)
export const mergeRequestNotes = noteOperations(noteableKinds.mergeRequest)
export const snippetNotes = noteOperations(noteableKinds.snippet)
