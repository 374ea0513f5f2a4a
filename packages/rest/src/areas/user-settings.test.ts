import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'

let world: World
let server: RestServer
let token: string
let other: string

beforeEach(async () => {
  server = await RestServer.start()
  world = server.world
  token = await server.tokenOf(await world.user('root', { isAdministrator: true }))
  other = await server.tokenOf(await world.user('noor'))
})
afterEach(() => server.close())

const call = (method: string, path: string, json?: object, as = token) => server.call(method, path, { token: as, json })
const person = { email: 'mira@example.test', username: 'mira', name: 'Mira Elm', force_random_password: true }

describe('a user', () => {
  test('has the profile, rights and note that it was given', async () => {
    const draft = { ...person, bio: 'Builds.', job_title: 'Engineer', organization: 'Ops', note: 'VIP', theme_id: 3 }
    const { status, body } = await call('POST', 'users', { ...draft, projects_limit: 1, can_create_group: false })
    expect([status, body]).toMatchObject([
      201,
      {
        bio: 'Builds.',
        work_information: 'Engineer at Ops',
        note: 'VIP',
        theme_id: 3,
        projects_limit: 1,
        can_create_group: false,
        can_create_project: true,
        external: false,
        location: '',
      },
    ])
    const seen = (await call('GET', `users/${body.id}`, undefined, other)).body
    expect(seen).toMatchObject({ bio: 'Builds.', created_at: '2026-02-03T04:05:06.789Z' })
    for (const name of ['note', 'email', 'projects_limit']) expect(seen).not.toHaveProperty(name)
    await call('PUT', `users/${body.id}`, { private_profile: true, note: '', bio: '' })
    expect((await call('GET', `users/${body.id}`)).body).toMatchObject({ private_profile: true, note: null, bio: '' })
    expect((await call('GET', `users/${body.id}`, undefined, other)).body).not.toHaveProperty('created_at')
  })

  test.each([
    [{ website_url: 'javascript:alert(1)' }, { message: { website_url: ['is not a valid URL'] } }],
    [{ commit_email: 'x@example.test' }, { message: { commit_email: ['must be the primary email'] } }],
    [{ extern_uid: '1', provider: 'ldap' }, { error: 'extern_uid is not supported' }],
    [{ projects_limit: -1 }, { error: 'projects_limit is invalid' }],
  ])('rejects %j', async (changes, body) => {
    expect(await call('PUT', 'users/2', changes)).toMatchObject({ status: 400, body })
  })

  test('creates as many projects and groups as allowed', async () => {
    await call('PUT', 'users/2', { projects_limit: 1, can_create_group: false })
    const create = (name: string) => call('POST', 'projects', { name }, other)
    expect((await create('One')).status).toBe(201)
    expect(await create('Two')).toMatchObject({
      status: 400,
      body: { message: { limit_reached: [expect.stringContaining('limit of 1 project')] } },
    })
    expect((await call('POST', 'groups', { name: 'x', path: 'x' }, other)).status).toBe(403)
  })

  test('that is external sees no internal groups and creates nothing of its own', async () => {
    await world.group('inner', { visibility: 'internal' })
    expect((await call('GET', 'groups/inner', undefined, other)).status).toBe(200)
    expect((await call('PUT', 'users/2', { external: true })).body).toMatchObject({
      external: true,
      can_create_group: false,
      projects_limit: 0,
    })
    expect((await call('GET', 'groups/inner', undefined, other)).status).toBe(404)
    expect((await call('GET', 'groups', undefined, other)).body).toEqual([])
    expect((await call('POST', 'projects', { name: 'x' }, other)).status).toBe(400)
  })
})

describe('the list of users', () => {
  beforeEach(async () => {
    await call('POST', 'users', { ...person, external: true, public_email: 'elm@example.test' })
    await world.project('tool', await world.user('ivo'))
    await call('POST', 'users/2/block')
  })

  test.each([
    ['external=true', ['mira']],
    ['exclude_external=true', ['root', 'noor', 'ivo']],
    ['exclude_active=true', ['noor']],
    ['two_factor=enabled', []],
    ['two_factor=disabled', ['root', 'noor', 'mira', 'ivo']],
    ['public_email=elm@example.test', ['mira']],
    ['without_projects=true', ['root', 'noor', 'mira']],
    ['extern_uid=1&provider=ldap', []],
    ['exclude_humans=true', []],
    ['order_by=updated_at', ['root', 'noor', 'mira', 'ivo']],
  ])('%s', async (filter, names) => {
    const { status, body } = await call('GET', `users?sort=asc&${filter}`)
    expect([status, body.map(({ username }: { username: string }) => username)]).toEqual([200, names])
  })

  test('shows private facts to administrators only', async () => {
    const mira = await server.tokenOf((await world.core.db.read.selectFrom('users').selectAll().execute())[2] as never)
    for (const filter of ['external=true', 'two_factor=disabled', 'without_projects=true'])
      expect((await call('GET', `users?${filter}`, undefined, mira)).status).toBe(403)
  })
})

describe('a picture', () => {
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(100)])

  async function upload(method: string, path: string, bytes: Buffer, name = 'my face.png') {
    const form = new FormData()
    form.set('avatar', new Blob([new Uint8Array(bytes)], { type: 'image/png' }), name)
    const headers = { 'PRIVATE-TOKEN': token }
    const response = await fetch(`${server.url}/api/v4/${path}`, { method, headers, body: form })
    // biome-ignore lint/suspicious/noExplicitAny: as in the harness
    return { status: response.status, body: (await response.json()) as any }
  }
  /** Fetches the URL of a picture from the server. */
  const fetched = (url: string, as?: string) =>
    fetch(url.replace('https://svc.example.test', server.url), { headers: as ? { 'PRIVATE-TOKEN': as } : {} })

  test('of a user is public', async () => {
    const { status, body } = await upload('PUT', 'users/2', png)
    expect(status).toBe(200)
    expect(body.avatar_url).toBe('https://svc.example.test/uploads/-/system/user/avatar/2/my_face.png')
    const response = await fetched(body.avatar_url)
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png'])
    expect(Buffer.from(await response.arrayBuffer()).equals(png)).toBe(true)
    expect((await fetched(body.avatar_url.replace('my_face', 'other'))).status).toBe(404)
  })

  test('of a private project is shown to its members, until it is removed', async () => {
    const { body: project } = await call('POST', 'projects', { name: 'Tool' })
    const { body } = await upload('PUT', `projects/${project.id}`, png)
    expect(await fetched(body.avatar_url).then((response) => response.status)).toBe(404)
    expect(await fetched(body.avatar_url, other).then((response) => response.status)).toBe(404)
    expect(await fetched(body.avatar_url, token).then((response) => response.status)).toBe(200)
    expect((await fetched(`${server.url}/api/v4/projects/${project.id}/avatar`, token)).status).toBe(200)
    const { body: removed } = await call('PUT', `projects/${project.id}`, { avatar: '' })
    expect(removed.avatar_url).toBeNull()
    expect((await fetched(body.avatar_url, token)).status).toBe(404)
  })

  test('is an image of at most 200 KiB', async () => {
    expect(await upload('PUT', 'users/2', Buffer.concat([png, Buffer.alloc(200 * 1024)]))).toMatchObject({
      status: 400,
      body: { message: { avatar: ['is too big (should be at most 200 KiB)'] } },
    })
    expect(await upload('PUT', 'users/2', Buffer.from('<svg onload="alert(1)"/>'))).toMatchObject({
      status: 400,
      body: { message: { avatar: [expect.stringContaining('file format is not supported')] } },
    })
    expect(await call('PUT', 'users/2', { avatar: 'https://example.test/a.png' })).toMatchObject({
      status: 400,
      body: { error: 'avatar is invalid' },
    })
  })
})

test('administrators see when users were last active, the longest inactive one first', async () => {
  await call('POST', 'users', person)
  await call('POST', 'users', { ...person, username: 'gust', email: 'gust@example.test', private_profile: true })
  const days = { root: '2026-02-03', noor: '2026-01-31', mira: '2025-07-01', gust: '2026-02-01' }
  const activities = async (query = '') => {
    for (const [username, last_activity_on] of Object.entries(days)) {
      const update = (db: typeof world.core.db.read) =>
        db.updateTable('users').set({ last_activity_on }).where('username', '=', username).execute()
      await world.core.db.write(update)
    }
    const { body } = await call('GET', `user/activities?${query}`)
    return body.map(({ username, ...day }: Record<string, string>) => `${username} ${Object.values(day).join()}`)
  }
  const recent = ['noor 2026-01-31,2026-01-31', 'root 2026-02-03,2026-02-03']
  // Those of the last half year.
  expect(await activities()).toEqual(recent)
  expect(await activities('from=2025-07-01')).toEqual(['mira 2025-07-01,2025-07-01', ...recent])
  expect(await activities('from=2026-02-01&per_page=1')).toEqual([recent[1]])
  expect(await call('GET', 'user/activities?from=soon')).toMatchObject({
    status: 400,
    body: { error: 'from is invalid' },
  })
  expect((await call('GET', 'user/activities', undefined, other)).status).toBe(403)
})
