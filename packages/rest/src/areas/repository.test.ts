import { Gitlab } from '@gitbeaker/rest'
import type { Project } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import { commitsArea } from './commits.ts'
import { pipelinesArea } from './pipelines.ts'
import { repositoryArea } from './repository.ts'
import { variablesArea } from './variables.ts'

let world: World
let server: RestServer
let project: Project
let token: string

beforeEach(async () => {
  server = await RestServer.start({ areas: [commitsArea, repositoryArea, variablesArea, pipelinesArea] })
  world = server.world
  const mira = await world.user('mira')
  project = await world.project('tools', await world.group('ops'))
  await world.member(project, mira, 40)
  token = await server.tokenOf(mira)
})

afterEach(() => server.close())

const call = (method: string, path: string, json?: object) =>
  server.call(method, `projects/ops%2Ftools/${path}`, { token, json })

const commitTwo = () =>
  call('POST', 'repository/commits', {
    branch: 'main',
    commit_message: 'Add files\n\nSigned-off-by: A\nSigned-off-by: B',
    actions: [
      { action: 'create', file_path: 'src/package.json', content: '{}' },
      { action: 'create', file_path: 'ü "x".bin', content: 'AAEC', encoding: 'base64', execute_filemode: true },
    ],
  })

test('answers 413 to a write beyond the storage limit of the project', async () => {
  Object.assign(world.core, { settings: { ...world.core.settings, projectStorageBytes: 10 } })
  const file = { branch: 'main', commit_message: 'Add', content: 'x' }
  const record = { object_attributes: { id: 1, status: 'success' } }
  for (const [method, path, json] of [
    ['POST', 'repository/files/a.txt', file],
    ['PUT', 'pipeline_records/1', record],
  ] as const) {
    const { status, body } = await call(method, path, json)
    expect([status, body]).toEqual([
      413,
      {
        message: expect.stringMatching(
          /^413 Request Entity Too Large - the project stores 0 of 10 bytes, and this needs \d+ more$/,
        ),
      },
    ])
  }
  expect((await call('GET', 'repository/branches')).body).toEqual([])
})

test('a commit has the fields of GitLab in their order', async () => {
  const { status, body } = await commitTwo()
  expect(status).toBe(201)
  const seconds = '2026-02-03T04:05:06.000+00:00'
  expect(Object.entries(body)).toEqual([
    ['id', expect.stringMatching(/^[0-9a-f]{40}$/)],
    ['short_id', body.id.slice(0, 8)],
    ['created_at', seconds],
    ['parent_ids', []],
    ['title', 'Add files'],
    ['message', 'Add files\n\nSigned-off-by: A\nSigned-off-by: B'],
    ['author_name', 'mira Holt'],
    ['author_email', 'mira@example.test'],
    ['authored_date', seconds],
    ['committer_name', 'mira Holt'],
    ['committer_email', 'mira@example.test'],
    ['committed_date', seconds],
    ['trailers', { 'Signed-off-by': 'B' }],
    ['extended_trailers', { 'Signed-off-by': ['A', 'B'] }],
    ['web_url', `https://svc.example.test/ops/tools/-/commit/${body.id}`],
    ['stats', { additions: 1, deletions: 0, total: 1 }],
    ['status', null],
    ['project_id', project.id],
    ['last_pipeline', null],
  ])
  const list = await call('GET', 'repository/commits')
  expect([list.headers.get('x-total'), list.headers.get('x-page')]).toEqual([null, '1'])
  expect(list.body).toMatchObject([{ id: body.id, trailers: {}, extended_trailers: {} }])
})

test('returns a file as JSON, raw, and as headers only', async () => {
  const { id } = (await commitTwo()).body
  const path = `repository/files/${encodeURIComponent('ü "x".bin')}`
  const { body } = await call('GET', `${path}?ref=main`)
  expect(body).toEqual({
    file_name: 'ü "x".bin',
    file_path: 'ü "x".bin',
    size: 3,
    encoding: 'base64',
    content_sha256: 'ae4b3280e56e2faf83f414a6e3dabe9d5fbe18976544c05fed121accb85b53fc',
    ref: 'main',
    blob_id: expect.stringMatching(/^[0-9a-f]{40}$/),
    commit_id: id,
    last_commit_id: id,
    execute_filemode: true,
    content: 'AAEC',
  })
  const head = await call('HEAD', path)
  const names = [
    'File-Name',
    'File-Path',
    'Size',
    'Encoding',
    'Ref',
    'Blob-Id',
    'Commit-Id',
    'Last-Commit-Id',
    'Execute-Filemode',
  ]
  expect(names.map((name) => head.headers.get(`X-Svc-${name}`))).toEqual([
    '%C3%BC "x".bin',
    '%C3%BC "x".bin',
    '3',
    'base64',
    'HEAD',
    body.blob_id,
    id,
    id,
    'true',
  ])
  const raw = await fetch(`${server.url}/api/v4/projects/${project.id}/${path}/raw`, {
    headers: { 'private-token': token },
  })
  expect(Buffer.from(await raw.arrayBuffer())).toEqual(Buffer.from([0, 1, 2]))
  expect(raw.headers.get('content-type')).toBe('text/plain')
  expect(raw.headers.get('content-disposition')).toBe(
    `inline; filename="_ _x_.bin"; filename*=UTF-8''%C3%BC%20%22x%22.bin`,
  )
})

test('reports missing objects and invalid parameters', async () => {
  await commitTwo()
  const answer = async (method: string, path: string, json?: object) => {
    const { status, body } = await call(method, path, json)
    return [status, body]
  }
  expect(await answer('POST', 'repository/commits', { commit_message: 'x', actions: [{}] })).toEqual([
    400,
    { error: 'branch is missing, actions[0][action] is missing, actions[0][file_path] is missing' },
  ])
  expect(await answer('GET', 'repository/files/..%2f..%2fcore.db')).toEqual([404, { message: '404 File Not Found' }])
  expect(await answer('GET', 'repository/files/none?ref=none')).toEqual([404, { message: '404 Commit Not Found' }])
  expect(await answer('GET', 'repository/branches/..%2f..%2fHEAD')).toEqual([404, { message: '404 Branch Not Found' }])
  expect(await answer('GET', 'repository/tree?path=none')).toEqual([404, { message: '404 Tree Not Found' }])
  expect(await answer('DELETE', 'repository/branches/main')).toEqual([
    405,
    { message: 'The default branch cannot be deleted' },
  ])
  expect(await answer('POST', 'variables', { key: 'A', value: 'b', masked: true })).toEqual([
    400,
    { message: { value: ['is invalid'] } },
  ])
  expect(await answer('GET', 'variables/NONE')).toEqual([404, { message: '404 Variable Not Found' }])
})

test('the TypeScript client can use branches, commits, tags and files', async () => {
  await commitTwo()
  const api = new Gitlab({ host: server.url, token })
  const id = 'ops/tools'
  await api.Branches.create(id, 'feature/x.json', 'main')
  expect((await api.Branches.all(id)).map(({ name }) => name)).toEqual(['feature/x.json', 'main'])
  await api.Commits.create(id, 'feature/x.json', 'Rename', [
    { action: 'move', filePath: 'package.json', previousPath: 'src/package.json' },
  ])
  const [renamed] = await api.Commits.all(id, { refName: 'feature/x.json', perPage: 1, maxPages: 1 })
  expect(renamed).toMatchObject({ title: 'Rename' })
  expect(await api.Commits.showDiff(id, renamed!.id)).toMatchObject([
    {
      old_path: 'src/package.json',
      new_path: 'package.json',
      renamed_file: true,
      new_file: false,
      deleted_file: false,
    },
  ])
  expect(await api.Branches.show(id, 'feature/x.json')).toMatchObject({ merged: false, default: false, can_push: true })
  await api.Branches.remove(id, 'feature/x.json')
  expect(await api.Tags.create(id, 'v1.0', 'main', { message: 'One' })).toMatchObject({ name: 'v1.0', message: 'One' })
  expect((await api.Tags.all(id)).map(({ created_at }) => created_at)).toEqual(['2026-02-03T04:05:06.000+00:00'])
  const tree = await api.Repositories.allRepositoryTrees(id, { recursive: true })
  expect(tree.map(({ type, path }) => `${type} ${path}`)).toEqual([
    'tree src',
    'blob src/package.json',
    'blob ü "x".bin',
  ])
  const file = 'src/package.json'
  await api.RepositoryFiles.edit(id, file, 'main', '{"a":1}', 'Edit')
  expect(await api.RepositoryFiles.showRaw(id, file, 'main')).toBe('{"a":1}')
  expect(await api.RepositoryFiles.create(id, 'b', 'main', 'b', 'Add')).toEqual({ file_path: 'b', branch: 'main' })
  await api.RepositoryFiles.remove(id, file, 'main', 'Remove')
  await expect(api.RepositoryFiles.show(id, file, 'main')).rejects.toThrow()
})

test('the TypeScript client can use variables', async () => {
  const api = new Gitlab({ host: server.url, token })
  const id = 'ops/tools'
  expect(await api.ProjectVariables.create(id, 'A', 'a', { environmentScope: 'prod/*', protected: true })).toEqual({
    variable_type: 'env_var',
    key: 'A',
    value: 'a',
    hidden: false,
    protected: true,
    masked: false,
    raw: false,
    environment_scope: 'prod/*',
    description: null,
  })
  await api.ProjectVariables.create(id, 'A', 'b')
  const filter = { environment_scope: '*' }
  expect(await api.ProjectVariables.show(id, 'A', { filter })).toMatchObject({ value: 'b' })
  expect(await api.ProjectVariables.edit(id, 'A', 'c', { filter })).toMatchObject({
    value: 'c',
    environment_scope: '*',
  })
  expect((await call('GET', 'variables/A')).status).toBe(409)
  await api.ProjectVariables.remove(id, 'A', { filter })
  expect(await api.ProjectVariables.all(id)).toMatchObject([{ value: 'a' }])
})
