import { type Discussion, isResolvable, type Note, type NotePosition, noteableIdOf } from '@penstock/core'
import { z } from 'zod'
import { isoTime } from '../../routing/iso-time.ts'
import type { JsonContext, Shape } from '../../routing/route.ts'
import { basicUserShape } from './basic-user.ts'
import { userOrNull } from './issuable-shape.ts'

const noteableNames = { issue: 'Issue', merge_request: 'MergeRequest', snippet: 'Snippet', commit: 'Commit' } as const
const typeNames = { individual: null, discussion: 'DiscussionNote', diff: 'DiffNote' } as const
const user = basicUserShape.schema.nullable()
const lineNumber = z.int().nullable()

const rangeEndSchema = z
  .object({
    line_code: z.string().nullable(),
    type: z.string().nullable(),
    old_line: lineNumber,
    new_line: lineNumber,
  })
  .nullable()

const positionSchema = z
  .object({
    base_sha: z.string(),
    start_sha: z.string(),
    head_sha: z.string(),
    old_path: z.string().nullable(),
    new_path: z.string().nullable(),
    position_type: z.enum(['text', 'image', 'file']),
    /** Only for texts. */
    old_line: lineNumber.optional(),
    new_line: lineNumber.optional(),
    line_range: z.object({ start: rangeEndSchema, end: rangeEndSchema }).nullable().optional(),
    /** Only for images. */
    width: z.int().nullable().optional(),
    height: z.int().nullable().optional(),
    x: z.number().nullable().optional(),
    y: z.number().nullable().optional(),
  })
  .meta({ id: 'NotePosition' })

function positionJson(position: NotePosition) {
  const { positionType, oldPath = null, newPath = null, lineRange } = position
  return {
    base_sha: position.baseSha,
    start_sha: position.startSha,
    head_sha: position.headSha,
    old_path: oldPath,
    new_path: newPath,
    position_type: positionType,
    ...(positionType === 'text' && {
      old_line: position.oldLine ?? null,
      new_line: position.newLine ?? null,
      line_range: lineRange == null ? null : { start: rangeEnd(lineRange.start), end: rangeEnd(lineRange.end) },
    }),
    ...(positionType === 'image' && {
      width: position.width ?? null,
      height: position.height ?? null,
      x: position.x ?? null,
      y: position.y ?? null,
    }),
  }
}

type RangeEnd = NonNullable<NotePosition['lineRange']>['start']
const rangeEnd = (end: RangeEnd) =>
  end === undefined
    ? null
    : {
        line_code: end.lineCode ?? null,
        type: end.type ?? null,
        old_line: end.oldLine ?? null,
        new_line: end.newLine ?? null,
      }

/** A note, with its fields in the order of GitLab's API. */
export const noteShape = {
  schema: z
    .object({
      id: z.int(),
      type: z.enum(['DiscussionNote', 'DiffNote']).nullable(),
      body: z.string(),
      attachment: z.null(),
      author: user,
      created_at: z.string(),
      updated_at: z.string(),
      system: z.boolean(),
      noteable_id: z.int().nullable(),
      noteable_type: z.enum(Object.values(noteableNames)),
      project_id: z.int(),
      /** Only of notes on a commit, or on lines. */
      commit_id: z.string().nullable().optional(),
      position: positionSchema.optional(),
      resolvable: z.boolean(),
      /** Only if it is resolvable. */
      resolved: z.boolean().optional(),
      resolved_by: user.optional(),
      resolved_at: z.string().nullable().optional(),
      suggestions: z.array(z.never()).optional(),
      confidential: z.boolean(),
      internal: z.boolean(),
      imported: z.boolean(),
      imported_from: z.string(),
      noteable_iid: z.int().nullable(),
      commands_changes: z.object({}),
    })
    .meta({ id: 'Note' }),
  of: (note: Note, context: JsonContext) => ({
    id: note.id,
    type: typeNames[note.kind],
    body: note.body,
    attachment: null,
    author: userOrNull(note.author, context),
    created_at: isoTime(note.createdAtMs),
    updated_at: isoTime(note.updatedAtMs),
    system: note.isSystem,
    noteable_id: noteableIdOf(note) ?? null,
    noteable_type: noteableNames[note.noteableType],
    project_id: note.projectId,
    ...((note.noteableType === 'commit' || note.kind === 'diff' || note.commitSha !== undefined) && {
      commit_id: note.commitSha ?? null,
    }),
    ...(note.position !== undefined && { position: positionJson(note.position) }),
    resolvable: isResolvable(note),
    ...(isResolvable(note) && {
      resolved: note.resolvedAtMs !== undefined,
      resolved_by: userOrNull(note.resolvedBy, context),
      resolved_at: isoTime(note.resolvedAtMs),
      // Suggested changes are not applied here.
      suggestions: [],
    }),
    confidential: note.isInternal,
    internal: note.isInternal,
    imported: false,
    imported_from: 'none',
    noteable_iid: note.noteableIid ?? null,
    // Quick actions in notes are text.
    commands_changes: {},
  }),
} satisfies Shape<Note>

export const discussionShape = {
  schema: z
    .object({ id: z.string(), individual_note: z.boolean(), notes: z.array(noteShape.schema) })
    .meta({ id: 'Discussion' }),
  of: ({ id, notes }: Discussion, context: JsonContext) => ({
    id,
    individual_note: notes[0]?.kind === 'individual',
    notes: notes.map((note) => noteShape.of(note, context)),
  }),
} satisfies Shape<Discussion>

/** A note on a commit, in the short form of its own endpoint. */
export const commitCommentShape = {
  schema: z
    .object({
      note: z.string(),
      path: z.string().nullable(),
      line: lineNumber,
      line_type: z.enum(['new', 'old']).nullable(),
      author: user,
      created_at: z.string(),
    })
    .meta({ id: 'CommitComment' }),
  of: ({ body, position, author, createdAtMs }: Note, context: JsonContext) => ({
    note: body,
    path: position?.newPath ?? position?.oldPath ?? null,
    line: position?.newLine ?? position?.oldLine ?? null,
    line_type: position === undefined ? null : position.newLine == null ? 'old' : 'new',
    author: userOrNull(author, context),
    created_at: isoTime(createdAtMs),
  }),
} satisfies Shape<Note>
