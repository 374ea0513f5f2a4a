import { type Project, type User, updateApplicationSettings, updateProject } from '@penstock/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Call, RestServer } from '../server/rest-server.harness.ts'

let server: RestServer
let mira: User
let root: User
let tokens: { mira: string; root: string; noor: string }
let tools: Project

beforeEach(async () => {
  server = await RestServer.start()
  const { world } = server
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  const noor = await world.user('noor')
  tools = await world.project('tools', await world.group('ops', { visibility: 'public' }), 'public')
  await world.member(tools, mira, 40)
  tokens = {
    root: await server.tokenOf(root),
    mira: await server.tokenOf(mira),
    noor: await server.tokenOf(noor),
  }
})

afterEach(() => server.close())

const call = (method: string, path = '', more: Call = {}) =>
  server.call(method, `projects/ops%2Ftools/snippets${path}`, { token: tokens.mira, ...more })
const files = [{ file_path: 'bin/rotate.sh', content: '#!/bin/sh\n' }]
const draft = { title: 'Rotate logs', visibility: 'public', files }
const create = async (json: object = draft, more: Call = {}) => {
  const { status, body } = await call('POST', '', { json, ...more })
  return [status, body]
}
const error = (text: string) => [400, { error: text }]
const refusal = (text: string, status = 400) => [status, { message: { error: text } }]

test('creates, lists, changes and removes a snippet', async () => {
  const [status, created] = await create({ title: 'Rotate logs', files })
  expect(status).toBe(201)
  const url = 'https://svc.example.test'
  expect(JSON.stringify(created)).toBe(
    JSON.stringify({
      id: 1,
      title: 'Rotate logs',
      description: null,
      visibility: 'private',
      author: {
        id: mira.id,
        username: 'mira',
        public_email: null,
        name: 'mira Holt',
        state: 'active',
        locked: false,
        avatar_url: null,
        web_url: `${url}/mira`,
        email: '',
        created_at: '2026-02-03T04:05:06.789Z',
      },
      created_at: '2026-02-03T04:05:06.789Z',
      updated_at: '2026-02-03T04:05:06.789Z',
      project_id: tools.id,
      web_url: `${url}/ops/tools/-/snippets/1`,
      raw_url: `${url}/ops/tools/-/snippets/1/raw`,
      ssh_url_to_repo: 'git@svc.example.test:ops/tools/snippets/1.git',
      http_url_to_repo: `${url}/ops/tools/snippets/1.git`,
      file_name: 'bin/rotate.sh',
      files: [{ path: 'bin/rotate.sh', raw_url: `${url}/ops/tools/-/snippets/1/raw/main/bin/rotate.sh` }],
      imported: false,
      imported_from: 'none',
    }),
  )
  await create({ title: 'Second', content: 'x', file_name: 'a.txt', visibility: 'internal' })
  const list = await call('GET')
  expect(list.body.map(({ id }: { id: number }) => id)).toEqual([2, 1])
  expect(list.headers.get('x-total')).toBe('2')
  const changed = await call('PUT', '/1', { json: { title: 'Rotate', visibility: 'public' } })
  expect([changed.status, changed.body.title, changed.body.visibility]).toEqual([200, 'Rotate', 'public'])
  const same = await call('PUT', '/1', { json: {} })
  expect([same.status, same.body]).toEqual([200, changed.body])
  const stale = { 'If-Unmodified-Since': 'Mon, 02 Feb 2026 00:00:00 GMT' }
  expect((await call('DELETE', '/1', { headers: stale })).status).toBe(412)
  expect((await call('DELETE', '/1', { headers: { 'If-Unmodified-Since': 'yesterday' } })).status).toBe(204)
  const missing = async (method: string, path: string) =>
    (await call(method, path, { token: tokens.root })).body.message
  expect(await missing('GET', '/1')).toBe('404 Not found')
  expect(await missing('GET', '/1/user_agent_detail')).toBe('404 Not found')
  expect(await missing('DELETE', '/1')).toBe('404 Snippet Not Found')
  expect(await missing('PUT', '/1')).toBe('404 Snippet Not Found')
  expect(await missing('GET', '/1/raw')).toBe('404 Snippet Not Found')
})

test('reports what is wrong with a new snippet', async () => {
  expect(await create({})).toEqual(
    error('title is missing, title is empty, files, content are missing, exactly one parameter must be provided'),
  )
  expect(await create({ title: ' ', files })).toEqual(error('title is empty'))
  expect(await create({ title: 'x', files, content: 'x' })).toEqual(
    error('file_name is missing, files, content are mutually exclusive'),
  )
  expect(await create({ title: 'x', content: 'x' })).toEqual(error('file_name is missing'))
  expect(await create({ title: 'x', files: [] })).toEqual(error('files is empty'))
  expect(await create({ ...draft, visibility: 'secret' })).toEqual(error('visibility does not have a valid value'))
  const file = (change: object) => create({ ...draft, files: [{ ...files[0], ...change }] })
  expect(await file({ content: ' ' })).toEqual(error('files[0][content] is empty'))
  expect(await file({ file_path: '' })).toEqual(error('files[0][file_path] is empty'))
  expect(await file({ file_path: null })).toEqual(
    error('files[0][file_path] should be a valid file path, files[0][file_path] is empty'),
  )
  for (const path of ['../x', '/x', 'a/../../x'])
    expect(await file({ file_path: path })).toEqual(error('files[0][file_path] should be a valid file path'))
  expect(await file({ file_path: '.git/config' })).toEqual(
    refusal('Repository Error creating the snippet - Invalid file name'),
  )
  expect(await create({ ...draft, title: 'x'.repeat(256) })).toEqual(
    refusal('Title is too long (maximum is 255 characters)'),
  )
  expect(
    await create({ title: 'x'.repeat(256), content: 'x', file_name: 'y', description: 'x'.repeat(1_048_577) }),
  ).toEqual(
    refusal(
      'Title is too long (maximum is 255 characters) and Description is too long (maximum is 1048576 characters)',
    ),
  )
  await server.world.perform(root, updateApplicationSettings, { restricted_visibility_levels: ['public'] })
  expect(await create()).toEqual(refusal('Visibility level public has been restricted by your administrator', 403))
})

test('reports what is wrong with a change of files', async () => {
  await create()
  const change = async (json: object) => {
    const { status, body } = await call('PUT', '/1', { json })
    return [status, body]
  }
  expect(await change({ files: [{ file_path: 'x' }] })).toEqual(error('files[0][action] is missing'))
  expect(await change({ files: [{ action: 'chmod' }] })).toEqual(error('files[0][action] does not have a valid value'))
  expect(await change({ files: [], content: 'x', file_name: 'x' })).toEqual(
    error('files, content are mutually exclusive, files, file_name are mutually exclusive'),
  )
  expect(await change({ title: '', content: '' })).toEqual(error('title is empty, content is empty'))
  expect(await change({ files: [{ action: 'move', file_path: '../a', previous_path: '/b' }] })).toEqual(
    error('files[0][file_path] should be a valid file path, files[0][previous_path] should be a valid file path'),
  )
  expect(await change({ files: [{ action: 'move', file_path: 'x' }] })).toEqual(
    refusal('Snippet actions have invalid data', 422),
  )
  expect(await change({ files: [{ action: 'delete', file_path: 'x' }] })).toEqual(
    refusal('Repository Error updating the snippet'),
  )
})

test('forms name files with and without indices', async () => {
  const send = async (form: string) => {
    const headers = { 'private-token': tokens.mira, 'content-type': 'application/x-www-form-urlencoded' }
    const url = `${server.url}/api/v4/projects/${tools.id}/snippets`
    const reply = await fetch(url, { method: 'POST', headers, body: form })
    return ((await reply.json()) as { files: { path: string }[] }).files.map(({ path }) => path)
  }
  const title = 'title=x'
  expect(
    await send(`${title}&files[][file_path]=a&files[][content]=1&files[][file_path]=b&files[][content]=2`),
  ).toEqual(['a', 'b'])
  expect(
    await send(`${title}&files[0][file_path]=a&files[0][content]=1&files[1][file_path]=b&files[1][content]=2`),
  ).toEqual(['a', 'b'])
})

describe('raw content', () => {
  test('is text that browsers do not run', async () => {
    const page = { file_path: 'a dir/page.xhtml', content: '<script>alert(1)</script>' }
    await create({ ...draft, files: [...files, page] })
    for (const path of ['/1/raw', `/1/files/main/${encodeURIComponent(page.file_path)}/raw`]) {
      const { status, headers, body } = await call('GET', path, { token: undefined })
      expect([status, body]).toEqual([200, page.content])
      expect(headers.get('content-type')).toMatch(/^text\/plain/)
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('content-security-policy')).toBe("default-src 'none'; sandbox; frame-ancestors 'none'")
      expect(headers.get('content-disposition')).toMatch(/^inline; filename="page"/)
    }
  })

  test('of a branch, a tag or a commit', async () => {
    await create()
    const at = async (ref: string, path: string) => {
      const { status, body } = await call('GET', `/1/files/${ref}/${path}/raw`)
      return [status, body.message ?? body.error ?? body]
    }
    const path = 'bin%2Frotate.sh'
    expect(await at('main', path)).toEqual([200, '#!/bin/sh\n'])
    expect(await at('refs%2Fheads%2Fmain', path)).toEqual([200, '#!/bin/sh\n'])
    expect(await at('main', 'missing')).toEqual([404, '404 File Not Found'])
    expect(await at('main', 'bin')).toEqual([404, '404 File Not Found'])
    for (const ref of ['missing', '..', '%2e%2e%2fmain', 'v1.2', 'a%2Fb', 'HEAD~1', 'main%00', '%F0%9F%90%AC'])
      expect((await call('GET', `/1/files/${ref}/${path}/raw`)).status).toBeOneOf([400, 404])
    expect(await at('v1.2', path)).toEqual([404, '404 Reference Not Found'])
    for (const unsafe of ['..%2Fa', '%2Fetc%2Fpasswd', 'a%2F..%2Fb', '%2e%2e%2fa'])
      expect(await at('main', unsafe)).toEqual([400, 'file_path should be a valid file path'])
    expect(await at('main', 'bin/rotate.sh')).toEqual([404, '404 Not Found'])
    expect((await call('GET', `/2/files/main/${path}/raw`)).body).toEqual({ message: '404 Snippet Not Found' })
  })
})

test('shows who may see which snippets', async () => {
  for (const visibility of ['private', 'internal', 'public']) await create({ ...draft, visibility })
  const seen = async (token: string | undefined) => {
    const statuses = await Promise.all([1, 2, 3].map(async (id) => (await call('GET', `/${id}`, { token })).status))
    const list = await call('GET', '', { token })
    return [statuses, list.status === 200 ? list.body.map(({ id }: { id: number }) => id) : list.status]
  }
  expect(await seen(undefined)).toEqual([[404, 404, 200], 401])
  expect(await seen(tokens.noor)).toEqual([
    [404, 200, 200],
    [3, 2],
  ])
  expect(await seen(tokens.root)).toEqual([
    [200, 200, 200],
    [3, 2, 1],
  ])
  const { db } = server.world.core
  const set = (values: object, id: number) =>
    db.write((tx) => tx.updateTable('users').set(values).where('id', '=', id).execute())
  await set({ is_external: 1 }, mira.id + 1)
  expect(await seen(tokens.noor)).toEqual([[404, 404, 200], [3]])
  await set({ state: 'banned' }, mira.id)
  expect(await seen(tokens.noor)).toEqual([[404, 404, 404], []])
  expect((await seen(tokens.root))[0]).toEqual([200, 200, 200])
})

test('answers 403 to every call where snippets are disabled', async () => {
  await create()
  await server.world.perform(root, updateProject, { project: tools.id, snippetsAccessLevel: 'disabled' })
  const calls = [
    ['GET', ''],
    ['POST', ''],
    ['GET', '/1'],
    ['GET', '/99'],
    ['PUT', '/1'],
    ['DELETE', '/1'],
    ['GET', '/1/raw'],
    ['GET', '/1/files/main/a/raw'],
    ['GET', '/1/user_agent_detail'],
  ] as const
  for (const [method, path] of calls) {
    const { status } = await call(method, path, { token: tokens.root, ...(method === 'POST' && { json: draft }) })
    expect([method, path, status]).toEqual([method, path, 403])
  }
})

test('counts 300 creations in an hour', async () => {
  const { status: unnamed } = await call('POST', '', { json: {} })
  expect(unnamed).toBe(400)
  const refusedFile = { title: 'x', files: [{ file_path: '.git', content: 'x' }] }
  for (let round = 0; round < 10; round += 1)
    await Promise.all(Array.from({ length: 30 }, () => call('POST', '', { json: refusedFile })))
  const { status, headers, body } = await call('POST', '', { json: draft })
  expect([status, body]).toEqual([
    429,
    { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
  ])
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
})

test('tells administrators which client created a snippet', async () => {
  await create(draft, { headers: { 'user-agent': 'curl/8.5' } })
  const detail = async (token: string | undefined) => {
    const { status, body } = await call('GET', '/1/user_agent_detail', { token })
    return [status, body]
  }
  expect(await detail(tokens.root)).toEqual([
    200,
    { user_agent: 'curl/8.5', ip_address: '127.0.0.1', spam_service_submitted: false, akismet_submitted: false },
  ])
  expect((await detail(tokens.mira))[0]).toBe(403)
  expect((await detail(undefined))[0]).toBe(401)
})

test('rejects a public snippet that is recognized as spam', async () => {
  Object.assign(server.world.core, { spamCheck: async () => ({ kind: 'spam' }) })
  expect(await create()).toEqual(refusal('Your snippet has been recognized as spam and has been discarded.'))
  expect((await create({ ...draft, visibility: 'internal' }))[0]).toBe(201)
})
