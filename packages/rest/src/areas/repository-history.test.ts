import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createBranch,
  createCommit,
  createMergeRequest,
  type Project,
  putPipelineRecord,
  removeBranch,
  type User,
} from '@penstock/core'
import { recordInput } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'

let server: RestServer
let mira: User
let project: Project
let token: string
let first: string

beforeEach(async () => {
  server = await RestServer.start()
  const { world } = server
  mira = await world.user('mira')
  project = await world.project('tools', await world.group('ops'))
  await world.member(project, mira, 40)
  token = await server.tokenOf(mira)
  first = await commit('main', { action: 'create', filePath: 'src/a.txt', content: 'one\ntwo\n' })
  await world.perform(mira, createBranch, { project: project.id, branch: 'feature/x', ref: 'main' })
})

afterEach(() => server.close())

async function commit(branch: string, ...actions: object[]): Promise<string> {
  const { world } = server
  const draft = { project: project.id, branch, commitMessage: `Change ${branch}`, actions }
  await world.clock.advance(1_000)
  return (await world.perform(mira, createCommit, draft)).sha
}
const get = (path: string) => server.call('GET', `projects/${project.id}/${path}`, { token })

test('compares two revisions, from a query in any of its forms', async () => {
  const second = await commit('feature/x', { action: 'update', filePath: 'src/a.txt', content: 'one\n2\n' })
  const { status, body } = await get('repository/compare?from=main&to=feature/x&unidiff=true')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    commit: { id: second },
    commits: [{ id: second, parent_ids: [first] }],
    diffs: [{ diff: '--- a/src/a.txt\n+++ b/src/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n', new_path: 'src/a.txt' }],
    compare_timeout: false,
    compare_same_ref: false,
  })
  expect(body.web_url).toMatch(/\/ops\/tools\/-\/compare\/main\.\.\.feature%2Fx$/)
  expect((await get(`repository/compare?from=${first}&to=${first}`)).body).toMatchObject({
    commit: null,
    commits: [],
    diffs: [],
    compare_same_ref: true,
  })
  expect(await get('repository/compare?from=main')).toMatchObject({ status: 400, body: { error: 'to is missing' } })
  expect(await get('repository/compare?from=main&to=gone')).toMatchObject({
    status: 404,
    body: { message: '404 Ref Not Found' },
  })
  const bases = ['refs[]=main&refs[]=feature/x', 'refs=main&refs=feature/x', 'refs[0]=main&refs[1]=feature/x']
  for (const query of bases) expect((await get(`repository/merge_base?${query}`)).body).toMatchObject({ id: first })
  expect(await get('repository/merge_base?refs[]=main')).toMatchObject({
    status: 400,
    body: { message: 'Provide at least 2 refs' },
  })
})

test('lists blamed lines, contributors and the branches of a commit', async () => {
  const second = await commit('main', { action: 'update', filePath: 'src/a.txt', content: 'one\n2\n' })
  const blame = await get('repository/files/src%2Fa.txt/blame?ref=main')
  expect(blame.body).toMatchObject([
    { commit: { id: first }, lines: ['one'] },
    { commit: { id: second, parent_ids: [first], author_name: 'mira Holt' }, lines: ['2'] },
  ])
  const range = await get('repository/files/src%2Fa.txt/blame?ref=main&range[start]=2&range[end]=2')
  expect(range.body).toMatchObject([{ commit: { id: second }, lines: ['2'] }])
  expect(await get('repository/files/src%2Fa.txt/blame')).toMatchObject({
    status: 400,
    body: { error: 'ref is missing' },
  })
  expect((await get('repository/contributors')).body).toEqual([
    { name: 'mira Holt', email: 'mira@example.test', commits: 2, additions: 0, deletions: 0 },
  ])
  expect((await get(`repository/commits/${first}/refs`)).body).toEqual([
    { type: 'branch', name: 'feature/x' },
    { type: 'branch', name: 'main' },
  ])
  expect((await get(`repository/commits/${second}/refs?type=branch`)).body).toEqual([{ type: 'branch', name: 'main' }])
})

test.each([
  ['archive', 'tar.gz', 'application/gzip'],
  ['archive.tar', 'tar', 'application/x-tar'],
  ['archive.zip?sha=feature/x', 'zip', 'application/zip'],
  ['archive?format=zip&sha=feature%2Fx', 'zip', 'application/zip'],
])('sends %s as a stream', async (path, format, type) => {
  const url = `${server.url}/api/v4/projects/${project.id}/repository/${path}`
  const reply = await fetch(url, { headers: { 'private-token': token } })
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, type])
  const name = `tools-${path.includes('sha') ? 'feature-x' : 'main'}-${first}.${format}`
  expect(reply.headers.get('content-disposition')).toContain(`attachment; filename="${name}"`)
  const file = join(server.world.directory, name)
  writeFileSync(file, Buffer.from(await reply.arrayBuffer()))
  const [program, ...args] = format === 'zip' ? ['python3', '-m', 'zipfile', '-l'] : ['tar', '-tf']
  expect(execFileSync(program!, [...args, file], { encoding: 'utf8' })).toContain('/src/a.txt')
  const head = await fetch(url, { method: 'HEAD', headers: { 'private-token': token } })
  expect([head.status, await head.text()]).toEqual([200, ''])
})

test('answers an unknown format, path or revision of an archive with an error', async () => {
  expect(await get('repository/archive.rar')).toMatchObject({
    status: 400,
    body: { error: 'format does not have a valid value' },
  })
  expect(await get('repository/archive.zip?sha=gone')).toMatchObject({
    status: 404,
    body: { message: '404 File Not Found' },
  })
})

test('lists the versions of a merge request, one for each push, also when the branch is gone', async () => {
  const { world } = server
  const second = await commit('feature/x', { action: 'create', filePath: 'b.txt', content: 'b\n' })
  const draft = { project: project.id, title: 'Add b', sourceBranch: 'feature/x', targetBranch: 'main' }
  const { iid, id } = await world.perform(mira, createMergeRequest, draft)
  const main = await commit('main', { action: 'create', filePath: 'c.txt', content: 'c\n' })
  const third = await commit('feature/x', { action: 'update', filePath: 'b.txt', content: 'B\n' })
  const path = `merge_requests/${iid}`
  expect((await get(`${path}/commits`)).body.map((each: { id: string }) => each.id)).toEqual([third, second])
  const diffs = [{ new_path: 'b.txt', new_file: true, diff: '@@ -0,0 +1 @@\n+B\n' }]
  expect((await get(`${path}/diffs`)).body).toMatchObject(diffs)
  expect((await get(`${path}/changes`)).body).toMatchObject({ iid, sha: third, changes: diffs, overflow: false })
  const versions = await get(`${path}/versions`)
  const version = {
    base_commit_sha: first,
    merge_request_id: id,
    state: 'collected',
    real_size: '1',
    patch_id_sha: null,
  }
  expect(versions.body).toMatchObject([
    { ...version, head_commit_sha: third, start_commit_sha: main },
    { ...version, head_commit_sha: second, start_commit_sha: first },
  ])
  const older = await get(`${path}/versions/${versions.body[1].id}`)
  expect(older.body).toMatchObject({
    ...versions.body[1],
    commits: [{ id: second }],
    diffs: [{ new_path: 'b.txt', diff: '@@ -0,0 +1 @@\n+b\n' }],
  })
  expect(await get(`${path}/versions/999`)).toMatchObject({ status: 404, body: { message: '404 Not found' } })
  await world.perform(mira, removeBranch, { project: project.id, branch: 'feature/x' })
  expect((await get(`${path}/commits`)).body.map((each: { id: string }) => each.id)).toEqual([third, second])
  expect((await get(`${path}/diffs?unidiff=true`)).body).toMatchObject([
    { diff: '--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+B\n' },
  ])
})

test.each([
  ['encoded', 'docs%2Fa%20b%2Fpackage.json'],
  ['with plain slashes', 'docs/a%20b/package.json'],
  ['with a slash at the end', 'docs/a%20b/package.json/'],
])('finds a file by its path, %s, also below a directory with the name of another route', async (_, path) => {
  for (const file of ['docs/a b/package.json', 'docs/raw/blame']) {
    await commit('main', { action: 'create', filePath: file, content: file })
  }
  expect((await get(`repository/files/${path}?ref=main`)).body).toMatchObject({ file_path: 'docs/a b/package.json' })
  const raw = await get(`repository/files/${path.replace(/\/$/, '')}/raw?ref=main`)
  expect([raw.status, raw.body]).toEqual([200, 'docs/a b/package.json'])
  // A path that ends like another route has to be encoded.
  expect((await get('repository/files/docs%2Fraw%2Fblame?ref=main')).body).toMatchObject({
    file_path: 'docs/raw/blame',
  })
  expect(await get('repository/files/docs/raw/blame?ref=main')).toMatchObject({ status: 404 })
  // Paths of files are encoded once.
  expect(await get('repository/files/docs%252Fa%2520b%252Fpackage.json?ref=main')).toMatchObject({ status: 404 })
})

test.each(['feature%2Fx.json', 'feature/x.json'])('finds and removes the branch %s', async (name) => {
  await server.world.perform(mira, createBranch, { project: project.id, branch: 'feature/x.json', ref: 'main' })
  expect((await get(`repository/branches/${name}`)).body).toMatchObject({ name: 'feature/x.json' })
  const path = `projects/${project.id}/repository/branches/${name}`
  expect(await server.call('DELETE', path, { token })).toMatchObject({ status: 204 })
  expect(await get(`repository/branches/${name}`)).toMatchObject({ status: 404 })
})

test('lists the jobs of the recorded pipelines of a commit', async () => {
  const sha = await commit('main', { action: 'create', filePath: 'b', content: 'b' })
  const record = (id: number, ref: string) => ({
    project: project.id,
    pipelineId: id,
    objectAttributes: { id, status: 'success', ref, sha },
    builds: [
      { id: id * 10, status: 'failed', name: 'unit', stage: 'test', allowFailure: true },
      { id: id * 10 + 1, status: 'success', name: 'pages', stage: 'deploy' },
    ],
  })
  for (const [id, ref] of [
    [7, 'main'],
    [8, 'v1'],
  ] as const)
    await server.world.perform(mira, putPipelineRecord, recordInput(record(id, ref)))
  const ids = async (query: string) =>
    (await get(`repository/commits/${sha}/statuses?${query}`)).body.map((each: { id: number }) => each.id)
  expect(await ids('')).toEqual([70, 71, 80, 81])
  expect(await ids('ref=v1&stage=test')).toEqual([80])
  expect(await ids('pipeline_id=7&name=pages')).toEqual([71])
  expect(await ids('order_by=pipeline_id&sort=desc')).toEqual([81, 80, 71, 70])
  expect((await get('repository/commits/main/statuses?name=unit&ref=main')).body).toMatchObject([
    { id: 70, sha, ref: 'main', status: 'failed', name: 'unit', pipeline_id: 7, allow_failure: true, coverage: null },
  ])
  const notFound = { status: 404, body: { message: '404 Commit Not Found' } }
  expect(await get('repository/commits/gone/statuses')).toMatchObject(notFound)
  await server.call('PUT', `projects/${project.id}`, {
    token,
    json: {
      repository_access_level: 'private',
      merge_requests_access_level: 'private',
      builds_access_level: 'private',
    },
  })
  const guest = await server.world.user('guest')
  await server.world.member(project, guest, 10)
  const guestToken = await server.tokenOf(guest)
  const asGuest = (revision: string) =>
    server.call('GET', `projects/${project.id}/repository/commits/${revision}/statuses`, { token: guestToken })
  // A guest learns nothing about revisions, and gets the jobs of a commit that is named completely.
  expect(await asGuest('main')).toMatchObject(notFound)
  expect(await asGuest(sha.slice(0, 8))).toMatchObject(notFound)
  expect((await asGuest(sha)).status).toBe(200)
})

test('lists the pipelines of a merge request, and the languages of a project', async () => {
  const { world } = server
  const sha = await commit('feature/x', { action: 'create', filePath: 'b.ts', content: 'let b\n' })
  const draft = { project: project.id, title: 'Add b', sourceBranch: 'feature/x', targetBranch: 'main' }
  const { iid } = await world.perform(mira, createMergeRequest, draft)
  for (const [id, ref] of [
    [7, 'feature/x'],
    [8, 'feature/x'],
    [9, 'main'],
  ] as const) {
    const objectAttributes = { id, status: 'success', ref, sha }
    await world.perform(mira, putPipelineRecord, recordInput({ project: project.id, pipelineId: id, objectAttributes }))
  }
  const { body } = await get(`merge_requests/${iid}/pipelines`)
  expect(body.map((each: { id: number }) => each.id)).toEqual([8, 7])
  expect(body[0]).toMatchObject({ project_id: project.id, sha, ref: 'feature/x', status: 'success' })
  expect((await get('languages')).body).toEqual({})
  await commit(
    'main',
    { action: 'create', filePath: 'a.go', content: 'abc' },
    { action: 'create', filePath: 'a.py', content: 'a' },
  )
  expect((await get('languages')).body).toEqual({ Go: 75, Python: 25 })
})
