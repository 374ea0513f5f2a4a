import { z } from 'zod'
import { type Page, pageInput } from '../../base/kit/page.ts'
import { acrossParameters, problem } from '../../base/kit/parse-input.ts'
import { query, steps } from '../../base/operations/operation.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import type { Note, NotePosition } from '../notes/note.ts'
import { addNote } from '../notes/note-changes.ts'
import { pageOfNotes } from '../notes/note-store.ts'
import { noteableKinds } from './noteable-kinds.ts'
import { noteLimits, onNoteable } from './on-noteable.ts'

const { head, find, change } = onNoteable(noteableKinds.commit)

/** Lists the notes on a commit, the oldest first. */
export const listCommitComments = query(
  { ...head('listCommitComments', pageInput), caller: 'anyone' },
  async (context, input): Promise<Page<Note>> => {
    const page = { ...input, orderBy: 'created_at', sort: 'asc' } as const
    return pageOfNotes(context, await find(context, input), { withInternal: true }, page)
  },
)

const commentHead = head('createCommitComment', {
  note: z.string(),
  path: z.string().min(1).max(4_096).optional(),
  line: z.int().min(1).optional(),
  lineType: z.enum(['new', 'old']).default('new'),
})

/** Adds a note to a commit, or to a line of a file in it. */
export const createCommitComment = steps(
  {
    ...commentHead,
    input: commentHead.input.superRefine(({ path, line }, context) => {
      if ((path === undefined) !== (line === undefined)) {
        context.addIssue(problem('all_or_none', { names: ['path', 'line'] }))
      }
    }, acrossParameters),
    limits: noteLimits,
  },
  async (context, input): Promise<Note> => {
    const { path, line, lineType } = input
    const found = await find(context, input)
    const repository = await findProjectRepository(context.core, context.subject)
    const [parent] = (await repository?.git.commit(found.sha!))?.parents ?? []
    const position = positionOf({ sha: found.sha!, parent, path, line, lineType })
    return change(context, input, (tx, noteable) =>
      addNote(tx, noteable, {
        body: input.note,
        isInternal: false,
        kind: position === undefined ? 'individual' : 'diff',
        position,
      }),
    )
  },
)

interface LineOfCommit {
  readonly sha: string
  readonly parent: string | undefined
  readonly path: string | undefined
  readonly line: number | undefined
  readonly lineType: 'new' | 'old'
}

/** The base of the first commit of a history, as on GitLab. */
const NO_PARENT = '0'.repeat(40)

function positionOf({ sha, parent = NO_PARENT, path, line, lineType }: LineOfCommit): NotePosition | undefined {
  if (path === undefined || line === undefined) return undefined
  return {
    baseSha: parent,
    startSha: parent,
    headSha: sha,
    positionType: 'text',
    oldPath: path,
    newPath: path,
    ...(lineType === 'new' ? { newLine: line } : { oldLine: line }),
  }
}
