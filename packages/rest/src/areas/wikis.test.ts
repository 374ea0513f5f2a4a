import { execFileSync } from 'node:child_process'
import { accessLevels, updateGroup } from '@penstock/core'
import { repositoryPath, World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'

let server: RestServer
let token: string

beforeEach(async () => {
  const world = await World.open({ pinnedSettings: { max_attachment_size: 1 } })
  server = await RestServer.start({ world })
  const mira = await world.user('mira')
  token = await server.tokenOf(mira)
  const ops = await world.group('ops')
  await world.member(ops, mira, accessLevels.owner)
})

afterEach(() => server.close())

const call = async (request: string, json?: object, as: string | undefined = token) => {
  const [method, path] = request.split(' ') as [string, string]
  const { status, body } = await server.call(method, path, { token: as, ...(json && { json }) })
  return [status, body]
}
const git = (...args: string[]) =>
  execFileSync('git', ['--git-dir', repositoryPath(server.world.core, 'group-wikis/1'), ...args])

test('a page is created, listed, read, changed, moved and deleted', async () => {
  expect(await call('GET groups/ops/wikis')).toEqual([200, []])
  const listed = { format: 'markdown', slug: 'guides/set-up', title: 'set up', wiki_page_meta_id: 1 }
  const page = { ...listed, content: '# Start here', encoding: 'UTF-8', front_matter: {} }
  expect(await call('POST groups/ops/wikis', { title: 'guides/set up', content: '# Start here' })).toEqual([201, page])
  const list = await server.call('GET', 'groups/1/wikis?page=2&per_page=1', { token })
  expect([list.body, list.headers.get('x-total'), list.headers.get('link')]).toEqual([[listed], null, null])
  expect(await call('GET groups/1/wikis?with_content=1')).toEqual([200, [page]])
  expect(await call('GET groups/1/wikis/guides%2Fset-up')).toEqual([200, page])
  const changed = { ...page, content: 'x', format: 'org' }
  expect(await call('PUT groups/1/wikis/guides%2Fset-up?format=org', { content: 'x' })).toEqual([200, changed])
  const moved = { ...changed, slug: 'guides/run', title: 'run' }
  expect(await call('PUT groups/1/wikis/guides%2Fset-up', { title: 'run' })).toEqual([200, moved])
  const first = git('rev-list', 'main').toString().trim().split('\n').at(-1)
  expect(await call(`GET groups/1/wikis/guides%2Fset-up?version=${first}`)).toEqual([
    200,
    { ...page, wiki_page_meta_id: null },
  ])
  expect(await call('DELETE groups/1/wikis/guides%2Frun')).toEqual([204, undefined])
  expect(await call('GET groups/1/wikis/guides%2Frun')).toEqual([404, { message: '404 Wiki Page Not Found' }])
})

test.each(['a/b c', 'a/ключ', 'a/x.json', 'a/100% %41', 'a/b?c#d', 'a/%2e%2e', 'attachments', 'a/attachments'])(
  'a slug like that of %j may be encoded once, twice, or have plain slashes',
  async (title) => {
    const [status, { slug }] = (await call('POST groups/1/wikis', { title, content: '' })) as [number, { slug: string }]
    expect([status, slug]).toEqual([201, title.replaceAll(' ', '-')])
    const once = encodeURIComponent(slug)
    for (const form of [once, once.replaceAll('%2F', '/'), encodeURIComponent(once)])
      expect([form, (await call(`GET groups/1/wikis/${form}`))[0]]).toEqual([form, 200])
    expect(await call(`PUT groups/1/wikis/${once.replaceAll('%2F', '/')}`, { content: 'y' })).toMatchObject([
      200,
      { slug },
    ])
    expect(await call(`DELETE groups/1/wikis/${once.replaceAll('%2F', '/')}`)).toEqual([204, undefined])
  },
)

test.each([
  ['POST groups/1/wikis', {}, 400, { error: 'title is missing, content is missing' }],
  ['POST groups/1/wikis', { title: ' ', content: '' }, 400, { message: { title: ["can't be blank"] } }],
  ['POST groups/1/wikis', { title: null, content: null }, 400, { message: { title: ["can't be blank"] } }],
  [
    'POST groups/1/wikis',
    { title: 'x', content: '', format: 'html' },
    400,
    { error: 'format does not have a valid value' },
  ],
  ['POST groups/1/wikis?format=xml', { title: 'x', content: '' }, 400, { error: 'format does not have a valid value' }],
  ['POST groups/1/wikis', { title: 'x', content: '', front_matter: 'x' }, 400, { error: 'front_matter is invalid' }],
  [
    'PUT groups/1/wikis/x',
    { format: 'org' },
    400,
    { error: 'content, title are missing, at least one parameter must be provided' },
  ],
  ['PUT groups/1/wikis/x', { content: 'y' }, 404, { message: '404 Wiki Page Not Found' }],
  ['PUT groups/9/wikis/x', { content: 'y' }, 404, { message: '404 Group Not Found' }],
  ['DELETE groups/1/wikis/x', undefined, 404, { message: '404 Wiki Page Not Found' }],
  ['GET groups/1/wikis/x?version=0000000', undefined, 404, { message: '404 Wiki Page Not Found' }],
  ['GET groups/1/wikis?with_content=maybe', undefined, 400, { error: 'with_content is invalid' }],
  ['PATCH groups/1/wikis/x', {}, 405, { error: '405 Not Allowed' }],
])('%s with %j is answered with %d', async (request, json, status, body) => {
  expect(await call(request, json)).toEqual([status, body])
})

test('a page of 10 MB is rejected with its size, and an anonymous caller cannot write', async () => {
  const json = { title: 'x', content: 'x'.repeat(10 * 1024 * 1024) }
  const text = 'is too long (10 MB). The maximum size is 5 MB.'
  expect(await call('POST groups/1/wikis', json)).toEqual([400, { message: { content: [text] } }])
  const { status, body } = await server.call('POST', 'groups/1/wikis', { json: {} })
  expect([status, body]).toEqual([401, { message: '401 Unauthorized' }])
})

test('the wiki of a project has the same calls, and follows `wiki_access_level`', async () => {
  const noor = await server.world.user('noor')
  const reader = await server.tokenOf(noor)
  await call('PUT groups/1', { visibility: 'public' })
  await call('POST projects', { name: 'Tools', path: 'tools', namespace_id: 1, visibility: 'public' })
  const wikis = 'projects/ops%2Ftools/wikis'
  const listed = { format: 'markdown', slug: 'home', title: 'home', wiki_page_meta_id: 1 }
  const page = { ...listed, content: 'Hello', encoding: 'UTF-8', front_matter: {} }
  expect(await call(`POST ${wikis}`, { title: 'home', content: 'Hello' })).toEqual([201, page])
  expect(await call(`GET ${wikis}`, undefined, reader)).toEqual([200, [listed]])
  expect(await call(`GET ${wikis}/home?render_html=true`)).toMatchObject([200, { slug: 'home' }])
  expect(await call(`PUT ${wikis}/home`, { content: 'x' }, reader)).toEqual([403, { message: '403 Forbidden' }])
  expect(await call(`GET ${wikis}/x`)).toEqual([404, { message: '404 Wiki Page Not Found' }])
  expect(await call('GET groups/ops/wikis')).toEqual([200, []])

  const { body } = await attach(new File(['a map'], 'map.png'), {}, 'projects/1')
  const file = `${server.url}/ops/tools/-/wikis/${body.file_path}`
  expect(await (await fetch(file)).text()).toBe('a map')
  expect((await fetch(file.replace('/ops/', '/groups/ops/'))).status).toBe(404)

  for (const [level, own, others] of [
    ['private', 200, 403],
    ['disabled', 403, 403],
  ] as const) {
    expect((await call('PUT projects/1', { wiki_access_level: level }))[0]).toBe(200)
    expect([(await call(`GET ${wikis}/home`))[0], (await call(`GET ${wikis}/home`, undefined, reader))[0]]).toEqual([
      own,
      others,
    ])
    expect((await fetch(file)).status).not.toBe(200)
  }
  expect(await call('GET projects/1')).toMatchObject([200, { wiki_access_level: 'disabled', wiki_enabled: false }])
})

test('a disabled wiki answers 403 to everyone', async () => {
  const mira = { id: 1, username: 'mira', isAdministrator: false, botHome: undefined }
  await server.world.perform(mira, updateGroup, { group: 1, wikiAccessLevel: 'disabled' })
  for (const request of ['GET groups/1/wikis', 'GET groups/1/wikis/x', 'DELETE groups/1/wikis/x'])
    expect(await call(request)).toEqual([403, { message: '403 Forbidden' }])
})

async function attach(file: File | undefined, fields: Record<string, string> = {}, parent = 'groups/1') {
  const body = new FormData()
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  if (file !== undefined) body.append('file', file)
  const url = `${server.url}/api/v4/${parent}/wikis/attachments`
  const reply = await fetch(url, { method: 'POST', headers: { 'private-token': token }, body })
  return { status: reply.status, body: (await reply.json()) as { file_path: string } }
}

test('an attachment is one commit, and its bytes are those that were sent', async () => {
  const bytes = Buffer.alloc(700_000, 'a\u0000b')
  const { status, body } = await attach(new File([bytes], 'net map.png'))
  expect(status).toBe(201)
  expect(body).toEqual({
    file_name: 'net_map.png',
    file_path: expect.stringMatching(/^uploads\/[0-9a-f]{32}\/net_map\.png$/),
    branch: 'main',
    link: { url: body.file_path, markdown: `![net_map](${body.file_path})` },
  })
  expect(git('show', `main:${body.file_path}`).equals(bytes)).toBe(true)
  expect(git('log', '--format=%an %s').toString()).toBe('mira Holt Upload attachment net_map.png\n')
  expect(git('fsck', '--strict').toString()).toBe('')
  // The same content again is the same object.
  expect((await attach(new File([bytes], 'net map.png'))).status).toBe(201)
  expect(await call('GET groups/1/wikis')).toEqual([200, []])
})

test.each([
  ['a.svg', 'a.svg', '![a.svg](PATH)'],
  ['notes.md', 'notes.md', '[notes.md](PATH)'],
  ['clip.MP4', 'clip.MP4', '![clip](PATH)'],
  ['план №1.pdf', 'план__1.pdf', '[план__1.pdf](PATH)'],
  ['...', '_...', '[_...](PATH)'],
  ['.git', '_.git', '[_.git](PATH)'],
  ['a](javascript:x)', 'a__javascript_x_', '[a__javascript_x_](PATH)'],
  [`${'é'.repeat(200)}.jpg`, `${'é'.repeat(125)}.jpg`, `![${'é'.repeat(125)}](PATH)`],
])('an attachment %j is stored as %j', async (sent, name, markdown) => {
  const { status, body } = await attach(new File(['x'], sent))
  expect([status, body]).toMatchObject([201, { file_name: name }])
  expect(body).toMatchObject({ link: { markdown: markdown.replace('PATH', body.file_path) } })
  expect(await call('GET groups/1/wikis')).toEqual([200, []])
})

test('an attachment without a file, beyond the setting, or for an unknown branch is rejected', async () => {
  expect(await attach(undefined)).toEqual({ status: 400, body: { error: 'file is missing' } })
  expect(await attach(undefined, { file: 'text' })).toEqual({ status: 400, body: { error: 'file is invalid' } })
  const large = new File([Buffer.alloc(1024 * 1024 + 1)], 'a.bin')
  expect(await attach(large)).toEqual({ status: 413, body: { message: '413 Request Entity Too Large' } })
  const message = 'You can only create or edit files when you are on a branch'
  for (const branch of ['drafts', '..', 'a b'])
    expect(await attach(new File(['x'], 'a'), { branch })).toEqual({ status: 400, body: { message } })
  expect((await attach(new File(['x'], 'a'), { branch: 'main' })).status).toBe(201)
})

test.each([
  ['page.html', 'application/octet-stream', 'attachment'],
  ['a.svg', 'image/svg+xml', 'attachment'],
  ['a.xhtml', 'application/octet-stream', 'attachment'],
  ['a.js', 'application/octet-stream', 'attachment'],
  ['map.png', 'image/png', 'inline'],
  ['карта.PNG', 'image/png', 'inline'],
])('an attachment %j is served as %s, %s', async (name, type, kind) => {
  const bytes = Buffer.alloc(300_000, '<script>alert(1)</script>')
  const { body } = await attach(new File([bytes], name))
  const url = `${server.url}/groups/ops/-/wikis/${body.file_path.split('/').map(encodeURIComponent).join('/')}`
  const reply = await fetch(url, { headers: { 'private-token': token } })
  expect(reply.status).toBe(200)
  expect(Buffer.from(await reply.arrayBuffer()).equals(bytes)).toBe(true)
  expect(reply.headers.get('content-type')).toBe(type)
  expect(reply.headers.get('content-disposition')).toMatch(new RegExp(`^${kind}; `))
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff')
  expect(reply.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox; frame-ancestors 'none'")
  // A packed repository is read too.
  git('repack', '-adq')
  expect((await (await fetch(url, { headers: { 'private-token': token } })).arrayBuffer()).byteLength).toBe(300_000)
  expect((await fetch(url)).status).toBe(404)
  const others = [url.replace(/.$/, '_'), url.replace(/uploads.*/, 'uploads/x/home.md')]
  for (const other of others) expect((await fetch(other, { headers: { 'private-token': token } })).status).toBe(404)
})
