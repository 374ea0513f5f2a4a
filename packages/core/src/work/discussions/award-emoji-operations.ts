import { z } from 'zod'
import { can, canComment } from '../../base/access/can.ts'
import { standingOf } from '../../base/access/subject.ts'
import { DomainError, forbidden, notFound } from '../../base/kit/domain-error.ts'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { query, steps } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { type AwardEmoji, awardEmojiEvents } from '../award-emoji/award-emoji.ts'
import {
  type Awardable,
  deleteAward,
  findAward,
  hasAward,
  insertAward,
  pageOfAwards,
} from '../award-emoji/award-emoji-store.ts'
import { emojiNamed } from '../award-emoji/emoji.ts'
import { readableNotes } from '../notes/note-access.ts'
import { findNoteOn } from '../notes/note-store.ts'
import type { Noteable, There } from '../notes/noteable.ts'
import { type NoteableKind, noteableKinds } from './noteable-kinds.ts'
import { onNoteable } from './on-noteable.ts'

const MAX_NAME = 255
const one = { awardId: z.int() }
const onNoteInput = { noteId: z.int() }

interface Target {
  readonly awardable: Awardable
  /** Notes of the service get no reactions. */
  readonly isClosed: boolean
}

/** Returns the operations on the reactions to issues, merge requests or snippets, or to their notes. */
function awardOperations(kind: NoteableKind, on: 'itself' | 'notes') {
  const noun = on === 'notes' ? `NoteOn${kind.noun}` : kind.noun
  const { head: headOf, find, change } = onNoteable(kind)
  // The operations on the thing itself lack the parameter; nothing reads it there.
  const ofNote = (on === 'notes' ? onNoteInput : {}) as typeof onNoteInput
  const head = <More extends z.ZodRawShape>(name: string, more: More) => headOf(name, { ...ofNote, ...more })

  const targetOf = async (context: There, noteable: Noteable, noteId: number): Promise<Target> => {
    const { type, id, projectId } = noteable
    if (on === 'itself') return { awardable: { type, id, projectId } as Awardable, isClosed: false }
    const note = await findNoteOn(context, noteable, await readableNotes(context), noteId)
    if (note === undefined) throw notFound()
    return { awardable: { type: 'note', id: note.id, projectId }, isClosed: note.isSystem }
  }
  const getAward = async (context: There, awardable: Awardable, id: number): Promise<AwardEmoji> => {
    const award = await findAward(context, awardable, id)
    if (award === undefined) throw notFound()
    return award
  }

  return {
    list: query(
      { ...head(`listAwardEmojiOf${noun}`, pageInput), caller: 'anyone' },
      async (context, input): Promise<Page<AwardEmoji>> => {
        const { awardable } = await targetOf(context, await find(context, input), input.noteId)
        return pageOfAwards(context, awardable, input)
      },
    ),
    get: query(
      { ...head(`getAwardEmojiOf${noun}`, one), caller: 'anyone' },
      async (context, input): Promise<AwardEmoji> => {
        const { awardable } = await targetOf(context, await find(context, input), input.noteId)
        return getAward(context, awardable, input.awardId)
      },
    ),
    /** @throws DomainError `not_found` also without the permission, or if there is no such emoji, as on GitLab */
    create: steps(
      head(`createAwardEmojiOn${noun}`, { name: z.string().min(1).max(MAX_NAME) }),
      (context, input): Promise<AwardEmoji> =>
        change(context, input, async (tx, noteable) => {
          const { awardable, isClosed } = await targetOf(tx, noteable, input.noteId)
          const standing = await standingOf(tx, tx.actor, tx.subject)
          if (isClosed || !canComment(standing, noteable)) throw notFound('Award Emoji')
          const name = emojiNamed(input.name)
          if (name === undefined) throw notFound('Award Emoji Name is not a valid emoji name')
          const draft = { userId: tx.actor!.id, name }
          if (await hasAward(tx, awardable, draft)) throw notFound('Award Emoji Name has already been taken')
          const award = await insertAward(tx, awardable, draft)
          await recordChange(tx, awardEmojiEvents, 'created', { after: award, projectId: award.projectId })
          return getAward(tx, awardable, award.id)
        }),
    ),
    /** Users remove their own reactions, administrators any. */
    remove: steps(
      { ...head(`removeAwardEmojiFrom${noun}`, one), isConditional: true },
      (context, input): Promise<void> =>
        change(context, input, async (tx, noteable) => {
          const { awardable } = await targetOf(tx, noteable, input.noteId)
          const before = await getAward(tx, awardable, input.awardId)
          const { id, isAdministrator } = tx.actor!
          if (before.userId !== id && !isAdministrator) throw new DomainError({ code: 'unauthenticated' })
          // A bot has no rights outside of its project, and an archived project stays as it is.
          if (!can(await standingOf(tx, tx.actor, tx.subject), 'create_note')) throw forbidden()
          tx.requireUnmodified(before.updatedAtMs)
          await deleteAward(tx, awardable, before)
          await recordChange(tx, awardEmojiEvents, 'removed', { before, projectId: before.projectId })
        }),
    ),
  }
}

export const issueAwards = awardOperations(noteableKinds.issue, 'itself')
export const issueNoteAwards = awardOperations(noteableKinds.issue, 'notes')
export const mergeRequestAwards = awardOperations(noteableKinds.mergeRequest, 'itself')
export const mergeRequestNoteAwards = awardOperations(noteableKinds.mergeRequest, 'notes')
export const snippetAwards = awardOperations(noteableKinds.snippet, 'itself')
export const snippetNoteAwards = awardOperations(noteableKinds.snippet, 'notes')
