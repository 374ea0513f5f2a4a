import { createProjectSnippet } from '@penstock/core'
import type { MatrixRow } from '../http-matrix-row.ts'
import { basicUserMembers, listOf, type Shape } from '../http-matrix-shapes.ts'
import type { MatrixArea, ThingContext } from '../matrix-area.ts'

const snippet: Shape = {
  exactly: {
    id: 'int',
    title: 'text',
    description: 'text?',
    visibility: 'text',
    author: { exactly: { ...basicUserMembers, email: { is: '' }, created_at: 'time' } },
    created_at: 'time',
    updated_at: 'time',
    project_id: 'int',
    web_url: 'text',
    raw_url: 'text',
    ssh_url_to_repo: 'text',
    http_url_to_repo: 'text',
    file_name: 'text',
    files: listOf({ exactly: { path: 'text', raw_url: 'text' } }),
    imported: { is: false },
    imported_from: { is: 'none' },
  },
}
const userAgent: Shape = {
  exactly: { user_agent: 'text', ip_address: 'text', spam_service_submitted: 'flag', akismet_submitted: 'flag' },
}

const all = '/projects/:id/snippets'
const one = `${all}/:snippet_id`
const reads = { may: { project: 10 }, visitors: 'anyone', needs: ['public snippet'] } as const
const draft = { title: 'Rotate logs', files: [{ file_path: 'a.txt', content: 'rotate' }] }

/** Creates a snippet on behalf of the administrator, by a request of curl. */
async function created({ server: { world, root } }: ThingContext, project: number, visibility: string) {
  const files = [{ filePath: 'a.txt', content: 'rotate' }]
  const input = { project, title: 'Rotate logs', visibility, files }
  const request = { address: '203.0.113.9', userAgent: 'curl/8.5' }
  // Thousands of snippets of the matrix would exceed the limit of an hour.
  return (await world.perform(root, { ...createProjectSnippet, limits: [] }, input, request)).id
}

const ofProject = async (context: ThingContext, visibility: string) => ({
  snippet_id: await created(context, context.parent!.id, visibility),
})

export const area: MatrixArea = {
  access: {
    read_snippet: {
      rule: 'everyone who sees the project',
      project: '---yyyyyyyy -yyyyyyyyyy yyyyyyyyyyy',
    },
    create_snippet: {
      rule: 'Reporters and higher',
      project: '---nnyyyyyy -nnnnyyyyyy nnnnnyyyyyy',
    },
    update_own_snippet: {
      rule: 'everyone who sees the project and is signed in',
      project: '---yyyyyyyy -yyyyyyyyyy nyyyyyyyyyy',
    },
    remove_own_snippet: {
      rule: 'Reporters and higher',
      project: '---nnyyyyyy -nnnnyyyyyy nnnnnyyyyyy',
    },
    admin_snippet: {
      rule: 'Maintainers and higher',
      project: '---nnnnnyyy -nnnnnnnyyy nnnnnnnnyyy',
    },
  },

  rows: [
    {
      call: `GET ${all}`,
      ...reads,
      visitors: 'signed in',
      answer: [200, listOf(snippet)],
      // It is signed in, and sees what anonymous callers see.
      except: { 'bot of another project, public': 'success' },
    },
    { call: `POST ${all}`, may: { project: 20 }, answer: [201, snippet], send: draft },
    { call: `GET ${one}`, ...reads, answer: [200, snippet] },
    {
      call: `PUT ${one}`,
      may: { project: 40 },
      answer: [200, snippet],
      needs: ['public snippet'],
      send: { title: 'Other', files: [{ action: 'create', file_path: 'b.txt', content: 'more' }] },
    },
    {
      call: `PUT ${one} : own`,
      may: { project: 10 },
      visitors: 'signed in',
      answer: [200, snippet],
      needs: ['own snippet'],
      send: { title: 'Other' },
    },
    { call: `DELETE ${one}`, may: { project: 40 }, answer: [204], needs: ['public snippet'] },
    { call: `DELETE ${one} : own`, may: { project: 20 }, answer: [204], needs: ['own snippet'] },
    { call: `GET ${one}/raw`, ...reads, answer: [200, 'text'] },
    {
      call: `GET ${one}/files/:ref/:file_path/raw`,
      ...reads,
      answer: [200, 'text'],
      at: { ref: 'main', file_path: 'a.txt' },
    },
    {
      call: `GET ${one}/user_agent_detail`,
      may: 'administrators',
      answer: [200, userAgent],
      needs: ['snippet and its project'],
    },
  ] satisfies MatrixRow[],

  things: {
    'public snippet': (context) => ofProject(context, 'public'),
    'own snippet': async (context) => {
      const values = await ofProject(context, 'public')
      const { server, caller } = context
      await server.world.core.db.write((db) =>
        db.updateTable('snippets').set({ author_id: caller.id }).where('id', '=', values.snippet_id).execute(),
      )
      return values
    },
    'snippet and its project': async (context) => {
      const { id } = await context.server.create('project', 'private')
      return { id, snippet_id: await created(context, id, 'private') }
    },
  },
}
