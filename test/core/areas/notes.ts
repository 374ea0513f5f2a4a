import {
  commitDiscussions,
  createCommitComment,
  createIssue,
  createMergeRequest,
  createProjectSnippet,
  issueDiscussions,
  mergeRequestDiscussions,
  snippetDiscussions,
} from '@penstock/core'
import { withBranch, withRepository } from '../http-matrix-repository-things.ts'
import type { MatrixRow } from '../http-matrix-row.ts'
import { basicUser, listOf, type Shape } from '../http-matrix-shapes.ts'
import type { Maker, MatrixArea, ThingContext, Values } from '../matrix-area.ts'

const note: Shape = {
  has: {
    id: 'int',
    body: 'text',
    author: basicUser,
    created_at: 'time',
    updated_at: 'time',
    system: 'flag',
    noteable_id: 'int?',
    noteable_type: 'text',
    noteable_iid: 'int?',
    project_id: 'int',
    resolvable: 'flag',
    confidential: 'flag',
    internal: 'flag',
  },
}
const discussion: Shape = { exactly: { id: 'text', individual_note: 'flag', notes: listOf(note) } }
const comment: Shape = {
  exactly: { note: 'text', path: 'text?', line: 'int?', line_type: 'text?', author: basicUser, created_at: 'time' },
}

interface NotedThing {
  readonly name: string
  readonly path: string
  /** The least role that reads it, and may comment on it. */
  readonly reads: 10 | 20
  readonly hasNotes: boolean
  readonly isResolved?: true
}

const noted: readonly NotedThing[] = [
  { name: 'issue', path: '/projects/:id/issues/:issue_iid', reads: 10, hasNotes: true },
  {
    name: 'merge request',
    path: '/projects/:id/merge_requests/:merge_request_iid',
    reads: 20,
    hasNotes: true,
    isResolved: true,
  },
  { name: 'snippet', path: '/projects/:id/snippets/:snippet_id', reads: 10, hasNotes: true },
  { name: 'commit', path: '/projects/:id/repository/commits/:sha', reads: 20, hasNotes: false },
]

function rowsOf({ name, path, reads, hasNotes, isResolved }: NotedThing): MatrixRow[] {
  const needs = [`note on ${name}`]
  const read = { may: { project: reads }, visitors: 'anyone', needs } as const
  const add = { may: { project: reads }, visitors: 'signed in', needs, send: { body: 'Water it' } } as const
  const change = { may: { project: 40 }, needs } as const
  const own = { may: { project: reads }, visitors: 'signed in', needs: [`own note on ${name}`] } as const
  const text = { answer: [200, note], send: { body: 'Water it twice' } } as const
  const one = `${path}/discussions/:discussion_id`
  const changes = (at: string): MatrixRow[] => [
    { call: `PUT ${at}`, ...change, ...text },
    { call: `PUT ${at} : own`, ...own, ...text },
    { call: `DELETE ${at}`, ...change, answer: [204] },
    { call: `DELETE ${at} : own`, ...own, answer: [204] },
  ]
  return [
    ...(hasNotes
      ? [
          { call: `GET ${path}/notes`, ...read, answer: [200, listOf(note)] } as const,
          { call: `GET ${path}/notes/:note_id`, ...read, answer: [200, note] } as const,
          { call: `POST ${path}/notes`, ...add, answer: [201, note] } as const,
          ...changes(`${path}/notes/:note_id`),
        ]
      : []),
    { call: `GET ${path}/discussions`, ...read, answer: [200, listOf(discussion)] },
    { call: `GET ${one}`, ...read, answer: [200, discussion] },
    { call: `POST ${path}/discussions`, ...add, answer: [201, discussion] },
    { call: `GET ${one}/notes`, ...read, answer: [200, listOf(note)] },
    { call: `GET ${one}/notes/:note_id`, ...read, answer: [200, note] },
    { call: `POST ${one}/notes`, ...add, answer: [201, note] },
    ...changes(`${one}/notes/:note_id`),
    ...(isResolved
      ? [
          {
            call: `PUT ${one}`,
            may: { project: 30 },
            needs,
            answer: [200, discussion],
            send: { resolved: true },
          } as const,
        ]
      : []),
  ]
}

const body = 'Water the seeds'
const places: Readonly<Record<string, (context: ThingContext) => Promise<Values>>> = {
  issue: async ({ server: { world, root }, parent }) => {
    const project = parent!.id
    const { iid } = await world.perform(root, createIssue, { project, title: 'Sow' })
    const input = { project, issueIid: iid, body }
    return { issue_iid: iid, ...valuesOf(await world.perform(root, unlimited(issueDiscussions.create), input)) }
  },
  'merge request': async ({ server, parent }) => {
    const { world, root } = server
    const project = parent!.id
    // A project has one open merge request for each branch.
    const sourceBranch = server.word('notes')
    await withBranch(server, parent!, sourceBranch)
    const draft = { project, title: 'Seeds', sourceBranch, targetBranch: 'main' }
    const { iid } = await world.perform(root, createMergeRequest, draft)
    const input = { project, mergeRequestIid: iid, body }
    const made = await world.perform(root, unlimited(mergeRequestDiscussions.create), input)
    return { merge_request_iid: iid, ...valuesOf(made) }
  },
  snippet: async ({ server: { world, root }, parent }) => {
    const project = parent!.id
    const draft = { project, title: 'Logs', visibility: 'public', files: [{ filePath: 'a', content: 'a' }] }
    const { id } = await world.perform(root, unlimited(createProjectSnippet), draft)
    const input = { project, snippetId: id, body }
    return { snippet_id: id, ...valuesOf(await world.perform(root, unlimited(snippetDiscussions.create), input)) }
  },
  commit: async ({ server, parent }) => {
    const { world, root } = server
    const { sha } = await withRepository(server, parent!)
    const input = { project: parent!.id, sha, body }
    return { sha: sha!, ...valuesOf(await world.perform(root, unlimited(commitDiscussions.create), input)) }
  },
}

/** The many notes of the matrix would exceed the limit of a minute. */
const unlimited = <Limited extends object>(operation: Limited): Limited => ({ ...operation, limits: [] })

const valuesOf = ({ id, notes }: { readonly id: string; readonly notes: readonly { readonly id: number }[] }) => ({
  discussion_id: id,
  note_id: notes[0]!.id,
})

/** Returns the maker of a note that the caller has written, as if they had been a member. */
const ownNoteOn =
  (name: string): Maker =>
  async (context) => {
    const values = await places[name]!(context)
    await context.server.world.core.db.write((db) =>
      db.updateTable('notes').set({ author_id: context.caller.id }).where('id', '=', Number(values.note_id)).execute(),
    )
    return values
  }

const comments = '/projects/:id/repository/commits/:sha/comments'

export const area: MatrixArea = {
  access: {
    create_note: {
      rule: 'Guests and higher; in visible projects everyone who has signed in',
      project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
    admin_note: {
      rule: 'Maintainers and higher',
      project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    },
    resolve_note: {
      rule: 'Developers and higher',
      project: '---nnnnyyyy -nnnnnnyyyy nnnnnnnyyyy',
    },
    read_internal_note: {
      rule: 'Planners, Reporters and higher',
      project: '---nyyyyyyy -nnnyyyyyyy nnnnyyyyyyy',
    },
    set_note_time: {
      rule: 'Owners',
      project: '---nnnnnnyy -nnnnnnnnyy nnnnnnnnnyy',
    },
  },

  rows: [
    ...noted.flatMap(rowsOf),
    {
      call: `GET ${comments}`,
      may: { project: 20 },
      visitors: 'anyone',
      answer: [200, listOf(comment)],
      needs: ['commit with comment'],
    },
    {
      call: `POST ${comments}`,
      may: { project: 20 },
      visitors: 'signed in',
      answer: [201, comment],
      needs: ['commit with comment'],
      send: { note: 'Water it' },
    },
  ],

  things: {
    ...Object.fromEntries(
      noted.flatMap(({ name }) => [
        [`note on ${name}`, places[name]!],
        [`own note on ${name}`, ownNoteOn(name)],
      ]),
    ),
    'commit with comment': async ({ server, parent }) => {
      const { sha } = await withRepository(server, parent!)
      const input = { project: parent!.id, sha, note: body }
      await server.world.perform(server.root, unlimited(createCommitComment), input)
      return { sha: sha! }
    },
  },
}
