import { z } from 'zod'
import { invalid } from '../../base/kit/domain-error.ts'
import { errorTexts } from '../../base/kit/error-texts.ts'
import { flag, id, int, type ObjectOf, object, oneOf, text, time } from '../../base/kit/field-table.ts'
import { instant } from '../../base/kit/parameter-schemas.ts'
import type { User } from '../../base/model/user.ts'
import { comparedFields, type RecordedKind } from '../../base/operations/record-change.ts'

/** The types of things that a note can be about. */
export const noteableTypes = ['issue', 'merge_request', 'snippet', 'commit'] as const
export type NoteableType = (typeof noteableTypes)[number]

const MAX_BODY = 1_000_000
/** The most notes of one issue, merge request, snippet or commit. */
export const MAX_NOTES = 5_000

const path = z.string().max(4_096).optional()
const sha = z.string().regex(/^[0-9a-f]{40,64}$/)
const line = z.int().min(1).optional()
const length = z.int().min(0).optional()
const rangeEnd = z
  .object({
    lineCode: z.string().max(255).optional(),
    type: z.enum(['new', 'old', 'expanded']).nullish(),
    oldLine: line.nullable(),
    newLine: line.nullable(),
  })
  .optional()

/** The place in a diff that a note is about. */
export const notePosition = z.object({
  baseSha: sha,
  startSha: sha,
  headSha: sha,
  positionType: z.enum(['text', 'image', 'file']),
  oldPath: path,
  newPath: path,
  oldLine: line.nullable(),
  newLine: line.nullable(),
  lineRange: z.object({ start: rangeEnd, end: rangeEnd }).nullish(),
  width: length,
  height: length,
  x: z.number().min(0).optional(),
  y: z.number().min(0).optional(),
})
export type NotePosition = z.output<typeof notePosition>

export const noteFields = {
  id: id(),
  projectId: int('project_id'),
  noteableType: oneOf('noteable_type', noteableTypes),
  issueId: int('issue_id').optional(),
  mergeRequestId: int('merge_request_id').optional(),
  snippetId: int('snippet_id').optional(),
  /** The commit that the note is about, or that a note on a merge request refers to. */
  commitSha: text('commit_sha').optional(),
  /** 40 hexadecimal digits that the notes of one discussion share. */
  discussionId: text('discussion_id'),
  /** An `individual` note is no discussion until someone replies to it. A `diff` note has a position. */
  kind: oneOf('kind', ['individual', 'discussion', 'diff']),
  body: text('body'),
  authorId: int('author_id').optional(),
  updatedById: int('updated_by_id').optional(),
  /** Whether the service wrote it to describe a change. */
  isSystem: flag('is_system'),
  /** Visible only to members with the Planner role or higher. */
  isInternal: flag('is_internal'),
  position: object('position', notePosition, {} as NotePosition).optional(),
  resolvedById: int('resolved_by_id').optional(),
  resolvedAtMs: time('resolved_at_ms').optional(),
  createdAtMs: time('created_at_ms'),
  updatedAtMs: time('updated_at_ms'),
}

/** A note as it is stored. */
export interface NoteRecord extends ObjectOf<typeof noteFields> {}

/** A note with its users, and the number of what it is about. */
export interface Note extends NoteRecord {
  /** `undefined` if the account was deleted. */
  readonly author: User | undefined
  readonly resolvedBy: User | undefined
  /** The iid of the issue or merge request. */
  readonly noteableIid: number | undefined
}

/** The notes of a discussion that the caller may read, the oldest first. */
export interface Discussion {
  readonly id: string
  readonly notes: readonly Note[]
}

/** Returns whether the note can be resolved: the discussions of merge requests can. */
export const isResolvable = ({ noteableType, kind, isSystem }: NoteRecord): boolean =>
  noteableType === 'merge_request' && kind !== 'individual' && !isSystem

/** Returns the id of the issue, merge request or snippet; `undefined` for a commit. */
export const noteableIdOf = ({ issueId, mergeRequestId, snippetId }: NoteRecord): number | undefined =>
  issueId ?? mergeRequestId ?? snippetId

/** @throws DomainError `invalid` */
export function requireBody(body: string): void {
  if (body.trim() === '') throw invalid({ note: [errorTexts.blank] })
  // A text has at least as many units as characters, which take longer to count.
  if (body.length > MAX_BODY && [...body].length > MAX_BODY) throw invalid({ note: [errorTexts.tooLong(MAX_BODY)] })
}

/** The parameters of a new note. */
export const newNoteInput = {
  body: z.string(),
  /** Only for administrators and owners. */
  createdAt: instant.optional(),
}

/** The parameters of notes that members can keep internal. `confidential` is the former name of `internal`. */
export const internalInput = { internal: z.boolean().optional(), confidential: z.boolean().optional() }

export const noteOrders = {
  orderBy: z.enum(['created_at', 'updated_at']).default('created_at'),
  sort: z.enum(['asc', 'desc']).default('desc'),
}

export const activityFilters = ['all_notes', 'only_comments', 'only_activity'] as const

/** Notes that describe a change have no events of their own: the change has one. */
export const noteEvents: RecordedKind<NoteRecord> = {
  noun: 'note',
  compared: comparedFields(noteFields),
  detailsOf: (note) => ({
    noteableType: note.noteableType,
    noteableId: noteableIdOf(note) ?? null,
    commitSha: note.commitSha ?? null,
    isInternal: note.isInternal,
  }),
}
