import { z } from 'zod'
import { DomainError, notFound } from '../../base/kit/domain-error.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import { query, steps } from '../../base/operations/operation.ts'
import { type Discussion, internalInput, type Note, newNoteInput, notePosition } from '../notes/note.ts'
import { readableNotes } from '../notes/note-access.ts'
import { addNote, editNote, removeNote, resolveNotes } from '../notes/note-changes.ts'
import { notesOfDiscussions, pageOfDiscussions, updateNote } from '../notes/note-store.ts'
import type { Noteable, There } from '../notes/noteable.ts'
import { type NoteableKind, noteableKinds } from './noteable-kinds.ts'
import { noteLimits, onNoteable } from './on-noteable.ts'

const one = { discussionId: z.string().max(64) }
const oneNote = { ...one, noteId: z.int() }
/** Notes on changed lines have a position. */
const positionInput = { position: notePosition.optional() }
const commitInput = {
  commitId: z
    .string()
    .regex(/^[0-9a-f]{40,64}$/)
    .optional(),
}

/** The parameters that a new discussion has depending on what it is about. The type has all, as they are optional. */
const newInputOf = ({ type, hasInternalNotes }: NoteableKind) =>
  ({
    ...newNoteInput,
    ...(hasInternalNotes && internalInput),
    ...((type === 'commit' || type === 'merge_request') && positionInput),
    ...(type === 'merge_request' && commitInput),
  }) as typeof newNoteInput & typeof internalInput & typeof positionInput & typeof commitInput

/** Only the notes of merge requests can be resolved. The type has the parameter all the same, as it is optional. */
const changesOf = ({ type }: NoteableKind) =>
  ({ body: z.string().optional(), ...(type === 'merge_request' && resolvedInput) }) as {
    readonly body: z.ZodOptional<z.ZodString>
  } & typeof resolvedInput
const resolvedInput = { resolved: z.boolean().optional() }

/** Returns the beginning of an operation that requires one of the changes of a note. */
function withChange<Head extends { readonly input: z.ZodType<{ body?: unknown; resolved?: unknown }> }>(
  head: Head,
): Head {
  const names = Object.keys(changesIn).filter((name) => name in (head.input as z.ZodType & z.ZodObject).shape)
  const input = head.input.superRefine((given, context) => {
    const count = Object.entries(changesIn).filter(([, valueIn]) => valueIn(given) !== undefined).length
    if (count !== 1) context.addIssue(problem(count === 0 ? 'exactly_one' : 'mutually_exclusive', { names }))
  }, acrossParameters)
  return { ...head, input }
}
const changesIn = {
  body: ({ body }: { readonly body?: unknown }) => body,
  resolved: ({ resolved }: { readonly resolved?: unknown }) => resolved,
}

/** Returns the operations on discussions: notes that reply to each other. */
function discussionOperations(kind: NoteableKind) {
  const { noun } = kind
  const { head, find, change } = onNoteable(kind)

  /** @throws DomainError `not_found` if it has no notes that the actor may read */
  const getDiscussion = async (context: There, noteable: Noteable, id: string): Promise<Discussion> => {
    const notes = await notesOfDiscussions(context, noteable, await readableNotes(context), [id])
    if (notes.length === 0) throw notFound('Discussion')
    return { id, notes }
  }
  const getNote = async (context: There, noteable: Noteable, input: z.output<z.ZodObject<typeof oneNote>>) => {
    const { notes } = await getDiscussion(context, noteable, input.discussionId)
    const note = notes.find(({ id }) => id === input.noteId)
    if (note === undefined) throw notFound('Note')
    return note
  }

  return {
    list: query(
      { ...head(`listDiscussionsOf${noun}`, pageInput), caller: 'anyone' },
      async (context, input): Promise<Page<Discussion>> =>
        pageOfDiscussions(context, await find(context, input), await readableNotes(context), input),
    ),
    get: query(
      { ...head(`getDiscussionOf${noun}`, one), caller: 'anyone' },
      async (context, input): Promise<Discussion> =>
        getDiscussion(context, await find(context, input), input.discussionId),
    ),
    create: steps(
      { ...head(`createDiscussionOn${noun}`, newInputOf(kind)), limits: noteLimits },
      (context, input): Promise<Discussion> =>
        change(context, input, async (tx, noteable) => {
          const note = await addNote(tx, noteable, {
            body: input.body,
            createdAt: input.createdAt,
            isInternal: input.internal ?? input.confidential ?? false,
            kind: input.position === undefined ? 'discussion' : 'diff',
            position: input.position,
            commitSha: input.commitId,
          })
          return { id: note.discussionId, notes: [note] }
        }),
    ),
    listNotes: query(
      { ...head(`listNotesInDiscussionOf${noun}`, one), caller: 'anyone' },
      async (context, input): Promise<readonly Note[]> =>
        (await getDiscussion(context, await find(context, input), input.discussionId)).notes,
    ),
    getNote: query(
      { ...head(`getNoteInDiscussionOf${noun}`, oneNote), caller: 'anyone' },
      async (context, input): Promise<Note> => getNote(context, await find(context, input), input),
    ),
    /** A single note becomes a discussion by a reply. */
    reply: steps(
      { ...head(`replyInDiscussionOf${noun}`, { ...one, ...newNoteInput }), limits: noteLimits },
      (context, input): Promise<Note> =>
        change(context, input, async (tx, noteable) => {
          const [first] = (await getDiscussion(tx, noteable, input.discussionId)).notes
          const { id, isSystem, isInternal, kind, discussionId, position, commitSha } = first!
          if (isSystem) throw new DomainError({ code: 'refused', message: 'Discussion can not be replied to.' })
          const { body, createdAt } = input
          const draft = { body, createdAt, isInternal, discussionId, position, commitSha }
          const reply = await addNote(tx, noteable, { ...draft, kind: kind === 'diff' ? kind : 'discussion' })
          if (kind === 'individual') await updateNote(tx, id, { kind: 'discussion' })
          return reply
        }),
    ),
    updateNote: steps(
      withChange(head(`updateNoteInDiscussionOf${noun}`, { ...oneNote, ...changesOf(kind) })),
      (context, input): Promise<Note> =>
        change(context, input, async (tx, noteable) => {
          const before = await getNote(tx, noteable, input)
          if (input.body !== undefined) return editNote(tx, noteable, before, input.body)
          return (await resolveNotes(tx, noteable, [before], input.resolved === true))[0]!
        }),
    ),
    removeNote: steps(
      { ...head(`removeNoteFromDiscussionOf${noun}`, oneNote), isConditional: true },
      (context, input): Promise<void> =>
        change(context, input, async (tx, noteable) => removeNote(tx, noteable, await getNote(tx, noteable, input))),
    ),
    /** Resolves all notes of the discussion, or opens them again. */
    resolve: steps(
      head(`resolveDiscussionOf${noun}`, { ...one, resolved: z.boolean() }),
      (context, input): Promise<Discussion> =>
        change(context, input, async (tx, noteable) => {
          const { id, notes } = await getDiscussion(tx, noteable, input.discussionId)
          return { id, notes: await resolveNotes(tx, noteable, notes, input.resolved) }
        }),
    ),
  }
}

const { resolve: _issues, ...ofIssues } = discussionOperations(noteableKinds.issue)
const { resolve: _snippets, ...ofSnippets } = discussionOperations(noteableKinds.snippet)
const { resolve: _commits, ...ofCommits } = discussionOperations(noteableKinds.commit)

export const issueDiscussions = ofIssues
export const mergeRequestDiscussions = discussionOperations(noteableKinds.mergeRequest)
export const snippetDiscussions = ofSnippets
export const commitDiscussions = ofCommits
