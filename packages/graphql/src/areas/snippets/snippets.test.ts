import { createProjectSnippet, createSnippet, type SpamReport, type User } from '@penstock/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let root: User
let alice: User
let bob: User

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  root = await world.user('root', { isAdministrator: true })
  alice = await world.user('alice')
  bob = await world.user('bob')
  const app = await world.project('app', root, 'public')
  await world.member(app, alice, 20)
})
afterEach(() => server.close())

const action = (filePath: string, content: string, more: object = {}) => ({
  action: 'create',
  filePath,
  content,
  ...more,
})
const files = [action('notes.md', '# Notes'), action('run.sh', 'make deploy')]
const personal = (visibility: string, as = alice, actions: object[] = files) =>
  server.world.perform(as, createSnippet, { title: `${visibility} of ${as.username}`, visibility, actions })
const ofProject = (visibility: string, as = alice) =>
  server.world.perform(as, createProjectSnippet, {
    project: 'root/app',
    title: `${visibility} of app`,
    visibility,
    files: [{ filePath: 'a.txt', content: 'a' }],
  })
const ask = async (query: string, as?: User, variables?: object) => {
  const { status, body } = await server.ask(query, { ...(as && { as }), ...(variables && { variables }) })
  return { status, ...body }
}
const NOT_AVAILABLE =
  "The resource that you are attempting to access does not exist or you don't have permission to perform this action"

test('shows all fields of a snippet', async () => {
  await personal('private')
  const { data, errors } = await ask(
    `{ snippets { nodes {
      id title titleHtml description descriptionHtml fileName visibilityLevel createdAt updatedAt webUrl rawUrl hidden
      httpUrlToRepo sshUrlToRepo imported importedFrom project { id } author { username }
      userPermissions { readSnippet updateSnippet adminSnippet reportSnippet createNote awardEmoji }
      blobs(paths: ["notes.md", "none"]) { hasUnretrievableBlobs nodes {
        name path mode size binary renderedAsText rawPath externalStorage rawPlainData plainData richData
        simpleViewer { type fileType collapsed tooLarge loadAsync loadingPartialName renderError }
        richViewer { type fileType tooLarge }
      } }
    } } }`,
    alice,
  )
  expect(errors).toBeUndefined()
  expect(data.snippets.nodes).toEqual([
    {
      id: 'gid://svc/PersonalSnippet/1',
      title: 'private of alice',
      titleHtml: 'private of alice',
      description: null,
      descriptionHtml: '',
      fileName: 'notes.md',
      visibilityLevel: 'private',
      createdAt: '2026-02-03T04:05:06Z',
      updatedAt: '2026-02-03T04:05:06Z',
      webUrl: 'https://svc.example.test/-/snippets/1',
      rawUrl: 'https://svc.example.test/-/snippets/1/raw',
      httpUrlToRepo: 'https://svc.example.test/snippets/1.git',
      sshUrlToRepo: 'git@svc.example.test:snippets/1.git',
      hidden: false,
      imported: false,
      importedFrom: 'NONE',
      project: null,
      author: { username: 'alice' },
      userPermissions: {
        readSnippet: true,
        updateSnippet: true,
        adminSnippet: true,
        reportSnippet: false,
        createNote: false,
        awardEmoji: false,
      },
      blobs: {
        hasUnretrievableBlobs: true,
        nodes: [
          {
            name: 'notes.md',
            path: 'notes.md',
            mode: '100644',
            size: 7,
            binary: false,
            renderedAsText: false,
            rawPath: '/-/snippets/1/raw/main/notes.md',
            externalStorage: null,
            rawPlainData: '# Notes',
            plainData: expect.stringMatching(/^<pre class="code highlight"><code><span id="LC1".*hljs-section/),
            richData: expect.stringContaining('<h1'),
            simpleViewer: {
              type: 'simple',
              fileType: 'text',
              collapsed: false,
              tooLarge: false,
              loadAsync: true,
              loadingPartialName: 'loading',
              renderError: null,
            },
            richViewer: { type: 'rich', fileType: 'markup', tooLarge: false },
          },
        ],
      },
    },
  ])
})

describe('lists', () => {
  const ids = 'nodes { id }'
  const seen = async (field: string, as?: User) => {
    const { data, errors } = await ask(`{ snippets${field} { ${ids} } }`, as)
    return errors?.[0].message ?? data.snippets.nodes.map(({ id }: { id: string }) => Number(/\d+$/.exec(id)![0]))
  }

  beforeEach(async () => {
    for (const visibility of ['private', 'internal', 'public']) {
      await personal(visibility)
      await ofProject(visibility)
    }
  })

  test('what the caller may read, newest first', async () => {
    expect(await seen('')).toEqual([6, 5])
    expect(await seen('', bob)).toEqual([6, 5, 4, 3])
    expect(await seen('', alice)).toEqual([6, 5, 4, 3, 2, 1])
    expect(await seen('', root)).toEqual([6, 5, 4, 3, 2, 1])
    expect(await seen('(first: 2)', alice)).toEqual([6, 5])
  })

  test('by kind, visibility, ids, author and project', async () => {
    expect(await seen('(type: personal)', alice)).toEqual([5, 3, 1])
    expect(await seen('(type: project)', bob)).toEqual([6, 4])
    expect(await seen('(visibility: private)', alice)).toEqual([2, 1])
    expect(await seen('(explore: true)', alice)).toEqual([5, 3])
    expect(await seen('(explore: true, type: project)', alice)).toEqual([])
    expect(await seen('(ids: ["gid://svc/PersonalSnippet/1", "gid://svc/ProjectSnippet/6"])', bob)).toEqual([6])
    expect(await seen('(ids: [])', bob)).toEqual([])
    expect(await seen(`(authorId: "gid://svc/User/${alice.id}", type: personal)`)).toEqual([5])
    expect(await seen('(projectId: "gid://svc/Project/1")', bob)).toEqual([6, 4])
    expect(await seen(`(authorId: "gid://svc/User/1", projectId: "gid://svc/Project/1")`)).toBe(
      'Filtering by both an author and a project is not supported',
    )
  })

  test('of projects and users', async () => {
    const query = `{
      project(fullPath: "root/app") { snippets(visibility: internal) { ${ids} } all: snippets { ${ids} } }
      user(username: "alice") { snippets { ${ids} } project: snippets(type: project) { ${ids} } }
    }`
    const project = (...numbers: number[]) => ({
      nodes: numbers.map((id) => ({ id: `gid://svc/ProjectSnippet/${id}` })),
    })
    const { data } = await ask(query, bob)
    expect(data.project).toEqual({ snippets: project(4), all: project(6, 4) })
    expect(data.user.project).toEqual(project(6, 4))
    expect(data.user.snippets.nodes).toHaveLength(4)
  })

  test('with a number of statements that does not depend on their length', async () => {
    const query = `{ snippets { nodes { title author { username } project { name } userPermissions { adminSnippet } } } }`
    const statements = () => server.world.statements(() => ask(query, root))
    await statements()
    const before = await statements()
    await ofProject('public')
    await personal('public', bob)
    expect(await statements()).toBe(before)
  })
})

describe('changes', () => {
  const update = `mutation($input: UpdateSnippetInput!) {
    updateSnippet(input: $input) { errors snippet { title visibilityLevel blobs { nodes { path rawPlainData } } } } }`
  const create = `mutation($input: CreateSnippetInput!) { createSnippet(input: $input) { errors snippet { id } } }`
  const draft = { title: 'x', visibilityLevel: 'public', blobActions: files }

  test('of files and of the snippet, together or not at all', async () => {
    await personal('private')
    const id = 'gid://svc/PersonalSnippet/1'
    const moved = { action: 'move', filePath: 'go.sh', previousPath: 'run.sh' }
    const changed = await ask(update, alice, { input: { id, title: 'y', blobActions: [moved] } })
    const snippet = {
      title: 'y',
      visibilityLevel: 'private',
      blobs: {
        nodes: [
          { path: 'go.sh', rawPlainData: 'make deploy' },
          { path: 'notes.md', rawPlainData: '# Notes' },
        ],
      },
    }
    expect(changed.data.updateSnippet).toEqual({ errors: [], snippet })
    const failing = (input: object) => ask(update, alice, { input: { id, visibilityLevel: 'public', ...input } })
    for (const [input, message] of [
      [{ blobActions: [moved] }, 'Repository Error updating the snippet'],
      [{ blobActions: [action('../x', 'x')] }, 'Repository Error updating the snippet - Invalid file name'],
      [{ blobActions: [{ action: 'update', filePath: 'go.sh' }] }, 'Snippet actions have invalid data'],
      [{ title: ' ' }, "Title can't be blank"],
    ] as const) {
      expect((await failing(input)).data.updateSnippet).toEqual({ errors: [message], snippet })
    }
  })

  test('that fail to create a snippet', async () => {
    const result = async (input: object) =>
      (await ask(create, alice, { input: { ...draft, ...input } })).data.createSnippet
    expect(await result({ title: '' })).toEqual({ errors: ["Title can't be blank"], snippet: null })
    expect(await result({ blobActions: [] })).toEqual({
      errors: ['The repository must contain at least 1 file.'],
      snippet: null,
    })
    expect(await result({ blobActions: [{ action: 'delete', filePath: 'a' }] })).toEqual({
      errors: ['Snippet actions have invalid data'],
      snippet: null,
    })
    expect((await result({ blobActions: [action('', 'x')] })).errors).toEqual([])
  })

  test('are refused without the permission', async () => {
    await personal('public')
    await ofProject('public', root)
    const refused = async (query: string, as: User | undefined, variables?: object) => {
      const { data, errors } = await ask(query, as, variables)
      return [Object.values(data), errors?.[0].message]
    }
    const none = [[null], NOT_AVAILABLE]
    const destroy = (id: string) => `mutation { destroySnippet(input: { id: "gid://svc/${id}" }) { errors } }`
    expect(await refused(destroy('PersonalSnippet/1'), bob)).toEqual(none)
    expect(await refused(destroy('PersonalSnippet/9'), bob)).toEqual(none)
    expect(await refused(destroy('ProjectSnippet/2'), alice)).toEqual(none)
    expect(await refused(create, undefined, { input: draft })).toEqual(none)
    expect(await refused(create, bob, { input: { ...draft, projectPath: 'root/app' } })).toEqual(none)
    expect(await refused(create, bob, { input: { ...draft, projectPath: 'root/none' } })).toEqual(none)
    const input = { id: 'gid://svc/PersonalSnippet/1', title: 'z' }
    expect(await refused(update, bob, { input })).toEqual(none)
    expect((await ask(destroy('PersonalSnippet/1'), root)).data).toEqual({ destroySnippet: { errors: [] } })
  })

  test('above the limit of creations are refused, and earlier ones stay', async () => {
    const request = { address: '127.0.0.1' }
    const bad = { title: 'x', visibility: 'public', actions: [action('.git', 'x')] }
    for (let count = 0; count < 299; count += 1)
      await server.world.perform(alice, createSnippet, bad, request).catch(() => {})
    const field = `createSnippet(input: { title: "x", visibilityLevel: private,
      blobActions: [{ action: create, filePath: "a", content: "a" }] }) { snippet { id } }`
    const { status, data, errors } = await ask(`mutation { first: ${field} second: ${field} }`, alice)
    expect(status).toBe(429)
    expect(data).toEqual({ first: { snippet: { id: expect.any(String) } }, second: null })
    expect(errors).toEqual([{ message: 'This endpoint has been requested too many times. Try again later.' }])
  })
})

test('reports a snippet to the spam-detection service', async () => {
  const report = `mutation { markAsSpamSnippet(input: { id: "gid://svc/PersonalSnippet/1" }) { errors snippet { id } } }`
  const rights = '{ snippets { nodes { userPermissions { reportSnippet } } } }'
  const create = `mutation { createSnippet(input: { title: "x", visibilityLevel: public,
    blobActions: [{ action: create, filePath: "a", content: "a" }] }) { errors } }`
  await ask(create, alice)
  const snippet = { id: 'gid://svc/PersonalSnippet/1' }
  expect((await ask(rights, alice)).data.snippets.nodes[0].userPermissions.reportSnippet).toBe(true)
  expect((await ask(report, alice)).data.markAsSpamSnippet).toEqual({
    errors: ['The spam-detection service has not accepted the report'],
    snippet,
  })
  const reports: unknown[] = []
  const spamReport: SpamReport = async (suspect) => void reports.push(suspect)
  Object.assign(server.world.core, { spamReport })
  expect((await ask(report, bob)).errors[0].message).toBe(NOT_AVAILABLE)
  expect((await ask(report, alice)).data.markAsSpamSnippet).toEqual({ errors: [], snippet })
  expect(reports).toMatchObject([{ kind: 'snippet', title: 'x', ipAddress: '127.0.0.1', isPublic: true }])
  expect((await ask(report, alice)).errors[0].message).toBe(NOT_AVAILABLE)
  expect((await ask(rights, alice)).data.snippets.nodes[0].userPermissions.reportSnippet).toBe(false)
})

test('limits the data of several files to 20 MB in total, whatever its form', async () => {
  await server.close()
  server = await GraphqlServer.start({ maxBlobBytes: 10 })
  alice = await server.world.user('alice')
  await personal('private', alice, [action('a.md', '12345678'), action('b.md', '12345678')])
  for (const field of ['rawPlainData', 'plainData', 'richData']) {
    const { data, errors } = await ask(`{ snippets { nodes { blobs { nodes { size ${field} } } } } }`, alice)
    const [first, second] = data.snippets.nodes[0].blobs.nodes
    expect([typeof first[field], second]).toEqual(['string', { size: 8, [field]: null }])
    expect(errors[0].message).toBe('The data of several blobs may be at most 10 bytes in one request')
  }
})

test('plain data of hostile files contains no markup of theirs', async () => {
  const hostile = '</code><script>alert(1)</script><img src=x onerror=alert(1)>'
  await personal(
    'private',
    alice,
    ['a.txt', 'a.html', 'a.md', 'a.unknown'].map((name) => action(name, hostile)),
  )
  const { data } = await ask('{ snippets { nodes { blobs { nodes { plainData richData } } } } }', alice)
  for (const { plainData, richData } of data.snippets.nodes[0].blobs.nodes) {
    expect(plainData).not.toMatch(/<script|<img/)
    expect(richData ?? '').not.toMatch(/<script|onerror/)
  }
})
