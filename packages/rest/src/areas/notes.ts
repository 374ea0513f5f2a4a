import {
  commitDiscussions,
  createCommitComment,
  type Discussion,
  type InputSchema,
  issueDiscussions,
  issueNotes,
  listCommitComments,
  mergeRequestDiscussions,
  mergeRequestNotes,
  type Note,
  type Operation,
  type Page,
  snippetDiscussions,
  snippetNotes,
} from '@penstock/core'
import { fieldErrorText } from '../routing/field-error-text.ts'
import { type Area, type RestRoute, type RouteParameters, type RouteRow, route, type Shape } from '../routing/route.ts'
import { orderedList, pagedList, pageOfAll } from './parameters/lists.ts'
import { commitCommentShape, discussionShape, noteShape } from './shapes/note-shape.ts'

/** A note of a million characters, each of which JSON can write with six bytes. */
const bodyLimitBytes = 8 * 1024 * 1024
const names: NonNullable<RouteRow<InputSchema, unknown>['names']> = { project: 'id' }
const invalid = fieldErrorText('400 Bad request - Note')
const refusal = (message: string) => `400 Bad request - ${message}`
const writes = { names, bodyLimitBytes, invalid, refusal } as const

type NoteOperations = Readonly<Record<'get' | 'create' | 'update', Operation<InputSchema, Note>>> & {
  readonly list: Operation<InputSchema, Page<Note>>
  readonly remove: Operation<InputSchema, void>
}
type DiscussionOperations = Readonly<Record<'get' | 'create', Operation<InputSchema, Discussion>>> &
  Readonly<Record<'getNote' | 'reply' | 'updateNote', Operation<InputSchema, Note>>> & {
    readonly list: Operation<InputSchema, Page<Discussion>>
    readonly listNotes: Operation<InputSchema, readonly Note[]>
    readonly removeNote: Operation<InputSchema, void>
    readonly resolve?: Operation<InputSchema, Discussion>
  }

/** One of the things that notes can be about: its name in summaries, its path, and the operations. */
interface Noteable {
  readonly noun: string
  readonly one: string
  readonly notes?: NoteOperations
  readonly discussions: DiscussionOperations
  /** The declared parameters of new notes and replies. */
  readonly newNote?: RouteParameters
  readonly reply?: RouteParameters
}

const noteables: readonly Noteable[] = [
  {
    noun: 'an issue',
    one: '/projects/:id/issues/:issue_iid',
    notes: issueNotes,
    discussions: issueDiscussions,
  },
  {
    noun: 'a merge request',
    one: '/projects/:id/merge_requests/:merge_request_iid',
    notes: mergeRequestNotes,
    discussions: mergeRequestDiscussions,
    newNote: {
      noEffect: { merge_request_diff_head_sha: 'guards a quick action that merges; quick actions are text here' },
    },
  },
  {
    noun: 'a snippet',
    one: '/projects/:id/snippets/:snippet_id',
    notes: snippetNotes,
    discussions: snippetDiscussions,
  },
  {
    noun: 'a commit',
    one: '/projects/:id/repository/commits/:sha',
    discussions: commitDiscussions,
    reply: { noEffect: { position: 'a reply has the position of its discussion' } },
  },
]

const fixedTime = { refused: { created_at: 'the time of a note is set when it is created' } }

function noteRoutes({ noun, one, notes, newNote }: Noteable): RestRoute[] {
  if (notes === undefined) return []
  const all = `${one}/notes`
  const note = `${all}/:note_id`
  const shape: Shape<Note> = noteShape
  return [
    route({
      method: 'GET',
      path: all,
      operation: notes.list,
      parameters: pagedList,
      names,
      shape,
      summary: `List the notes on ${noun}.`,
    }),
    route({ method: 'GET', path: note, operation: notes.get, names, shape, summary: `Get a note on ${noun}.` }),
    route({
      method: 'POST',
      path: all,
      operation: notes.create,
      ...(newNote && { parameters: newNote }),
      ...writes,
      shape,
      summary: `Add a note to ${noun}.`,
    }),
    route({
      method: 'PUT',
      path: note,
      operation: notes.update,
      ...writes,
      shape,
      summary: `Change the text of a note on ${noun}.`,
    }),
    route({ method: 'DELETE', path: note, operation: notes.remove, names, summary: `Delete a note on ${noun}.` }),
  ]
}

function discussionRoutes({ noun, one, discussions, reply }: Noteable): RestRoute[] {
  const all = `${one}/discussions`
  const discussion = `${all}/:discussion_id`
  const notes = `${discussion}/notes`
  const note = `${notes}/:note_id`
  return [
    route({
      method: 'GET',
      path: all,
      operation: discussions.list,
      parameters: orderedList,
      names,
      shape: discussionShape as Shape<Discussion>,
      summary: `List the discussions on ${noun}, the oldest first.`,
    }),
    route({
      method: 'GET',
      path: discussion,
      operation: discussions.get,
      names,
      shape: discussionShape as Shape<Discussion>,
      summary: `Get a discussion on ${noun}.`,
    }),
    route({
      method: 'POST',
      path: all,
      operation: discussions.create,
      ...writes,
      shape: discussionShape as Shape<Discussion>,
      summary: `Begin a discussion on ${noun}.`,
    }),
    route({
      method: 'GET',
      path: notes,
      operation: discussions.listNotes,
      parameters: pageOfAll,
      names,
      isList: true,
      shape: noteShape as Shape<Note>,
      summary: `List the notes of a discussion on ${noun}.`,
    }),
    route({
      method: 'GET',
      path: note,
      operation: discussions.getNote,
      names,
      shape: noteShape as Shape<Note>,
      summary: `Get a note of a discussion on ${noun}.`,
    }),
    route({
      method: 'POST',
      path: notes,
      operation: discussions.reply,
      ...(reply && { parameters: reply }),
      ...writes,
      shape: noteShape as Shape<Note>,
      summary: `Reply in a discussion on ${noun}.`,
    }),
    route({
      method: 'PUT',
      path: note,
      operation: discussions.updateNote,
      parameters: fixedTime,
      ...writes,
      shape: noteShape as Shape<Note>,
      summary: `Change the text of a note in a discussion on ${noun}${discussions.resolve ? ', or resolve it' : ''}.`,
    }),
    route({
      method: 'DELETE',
      path: note,
      operation: discussions.removeNote,
      names,
      summary: `Delete a note of a discussion on ${noun}.`,
    }),
    ...(discussions.resolve === undefined
      ? []
      : [
          route({
            method: 'PUT',
            path: discussion,
            operation: discussions.resolve,
            names,
            refusal,
            shape: discussionShape as Shape<Discussion>,
            summary: `Resolve a discussion on ${noun}, or open it again.`,
          }),
        ]),
  ]
}

const comments = '/projects/:id/repository/commits/:sha/comments'

export const notesArea: Area = {
  tag: 'Notes',
  routes: [
    ...noteables.flatMap((noteable) => [...noteRoutes(noteable), ...discussionRoutes(noteable)]),
    route<InputSchema, Page<Note>>({
      method: 'GET',
      path: comments,
      operation: listCommitComments,
      parameters: orderedList,
      names,
      shape: commitCommentShape as Shape<Note>,
      summary: 'List the comments on a commit, the oldest first.',
    }),
    route<InputSchema, Note>({
      method: 'POST',
      path: comments,
      operation: createCommitComment,
      ...writes,
      shape: commitCommentShape as Shape<Note>,
      summary: 'Comment on a commit, or on a line of a file in it.',
    }),
  ],
}
