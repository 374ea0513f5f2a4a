import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'

let world: World
let server: RestServer
let token: string
let own: string

beforeEach(async () => {
  server = await RestServer.start()
  world = server.world
  token = await server.tokenOf(await world.user('root', { isAdministrator: true }))
  own = await server.tokenOf(await world.user('mira'))
})
afterEach(() => server.close())

const call = (method: string, path: string, json?: object, as = token) => server.call(method, path, { token: as, json })
const idsOf = (body: readonly { id: number }[]) => body.map(({ id }) => id)

describe('a group', () => {
  test('returns its settings, and its projects unless they are not wanted', async () => {
    const draft = { name: 'Ops', path: 'ops', project_creation_level: 'maintainer', default_branch: 'trunk' }
    const group = await call('POST', 'groups', { ...draft, emails_disabled: true })
    expect(group).toMatchObject({
      status: 201,
      body: {
        project_creation_level: 'maintainer',
        subgroup_creation_level: 'maintainer',
        default_branch: 'trunk',
        emails_disabled: true,
        emails_enabled: false,
        share_with_group_lock: false,
        wiki_access_level: 'enabled',
        default_branch_protection_defaults: { allow_force_push: false, allowed_to_push: [{ access_level: 40 }] },
      },
    })
    const changes = { share_with_group_lock: true, default_branch_protection_defaults: { allow_force_push: true } }
    expect(await call('PUT', 'groups/ops', changes)).toMatchObject({
      status: 200,
      body: { share_with_group_lock: true, default_branch_protection_defaults: { allow_force_push: true } },
    })
    const { body: project } = await call('POST', 'projects', { name: 'Tool', namespace_id: group.body.id })
    expect(project.default_branch).toBe('trunk')
    expect((await call('GET', 'groups/ops')).body).toMatchObject({
      projects: [{ id: project.id }],
      shared_projects: [],
    })
    expect((await call('GET', 'groups/ops?with_projects=false')).body).not.toHaveProperty('projects')
    expect(await call('GET', 'groups/ops/projects/shared')).toMatchObject({ status: 200, body: [] })
  })

  test.each([
    ['developer', 30, 201],
    ['maintainer', 30, 400],
    ['maintainer', 40, 201],
    ['owner', 40, 400],
    ['administrator', 50, 400],
    ['noone', 50, 400],
  ])('with project_creation_level %s, a member with level %d gets %d', async (level, role, status) => {
    const { body } = await call('POST', 'groups', { name: 'Ops', path: 'ops', project_creation_level: level })
    await call('POST', 'groups/ops/members', { user_id: 2, access_level: role })
    expect((await call('POST', 'projects', { name: 'Tool', namespace_id: body.id }, own)).status).toBe(status)
  })

  test('is listed by the filters of GitLab', async () => {
    await call('POST', 'groups', { name: 'Ops', path: 'ops' })
    await call('POST', 'groups', { name: 'Opera', path: 'opera' })
    const names = async (query: string) =>
      (await call('GET', `groups?${query}`)).body.map(({ name }: { name: string }) => name)
    expect(await names('order_by=similarity&search=ops')).toEqual(['Ops'])
    expect(await names('active=true')).toEqual(['Opera', 'Ops'])
    expect(await names('archived=true')).toEqual([])
    expect(await call('PUT', 'groups/ops', { ip_restriction_ranges: '192.0.2.0/24' })).toMatchObject({
      status: 400,
      body: { error: 'ip_restriction_ranges is not supported' },
    })
  })
})

describe('members', () => {
  test('are added by a list of ids, all or none', async () => {
    await world.user('noor')
    await call('POST', 'groups', { name: 'Ops', path: 'ops' })
    const add = (user_id: unknown) => call('POST', 'groups/ops/members', { user_id, access_level: 30 })
    const count = async () => (await call('GET', 'groups/ops/members')).body.length
    expect(await add('2,99')).toMatchObject({ status: 404 })
    expect(await count()).toBe(1)
    expect(await add('2,3')).toMatchObject({ status: 201, body: { status: 'success' } })
    expect(await count()).toBe(3)
    await call('DELETE', 'groups/ops/members/3')
    expect(await add([3])).toMatchObject({ status: 201, body: { id: 3, access_level: 30 } })
  })
})

describe('namespaces', () => {
  beforeEach(async () => {
    await call('POST', 'groups', { name: 'Ops', path: 'ops' })
    await call('POST', 'groups', { name: 'Tools', path: 'tools', parent_id: 1 })
    await call('POST', 'groups', { name: 'Firm', path: 'firm' })
    await call('POST', 'groups/ops/members', { user_id: 2, access_level: 30 })
  })

  test('are listed for their members, and all for administrators', async () => {
    const list = async (query = '', as = own) => idsOf((await call('GET', `namespaces?${query}`, undefined, as)).body)
    const user = 1_000_000_002
    expect(await list()).toEqual([1, 2, user])
    expect(await list('owned_only=true')).toEqual([user])
    expect(await list('top_level_only=true')).toEqual([1, user])
    expect(await list('search=TOOL')).toEqual([2])
    expect(await list('per_page=2&page=2')).toEqual([user])
    expect(await list('', token)).toEqual([1, 2, 3, 1_000_000_001, user])
    expect((await server.call('GET', 'namespaces')).status).toBe(401)
  })

  test('are found by id and by path, with counts for owners', async () => {
    expect(await call('GET', 'namespaces/ops%2Ftools')).toMatchObject({
      status: 200,
      body: {
        id: 2,
        kind: 'group',
        full_path: 'ops/tools',
        parent_id: 1,
        members_count_with_descendants: 1,
        projects_count: 0,
        root_repository_size: null,
      },
    })
    expect((await call('GET', 'namespaces/1', undefined, own)).body).not.toHaveProperty(
      'members_count_with_descendants',
    )
    expect(await call('GET', 'namespaces/mira', undefined, own)).toMatchObject({
      status: 200,
      body: { id: 1_000_000_002, kind: 'user', name: 'mira Holt', web_url: 'https://svc.example.test/mira' },
    })
    for (const other of ['3', 'firm', 'root', '99', '2147483648'])
      expect(await call('GET', `namespaces/${other}`, undefined, own)).toMatchObject({
        status: 404,
        body: { message: '404 Namespace Not Found' },
      })
  })

  test('of an owner have the numbers of members and projects below, and the size of the repositories', async () => {
    const { body: project } = await call('POST', 'projects', {
      name: 'Tool',
      namespace_id: 2,
      initialize_with_readme: true,
    })
    const counted = async (as: string) => {
      const { body } = await call('GET', 'namespaces', undefined, as)
      return Object.fromEntries(
        body.map(({ id, members_count_with_descendants, projects_count }: Record<string, number>) => [
          id,
          [members_count_with_descendants, projects_count],
        ]),
      )
    }
    expect(project.path_with_namespace).toBe('ops/tools/tool')
    expect(await counted(token)).toMatchObject({ 1: [2, 1], 2: [1, 1], 3: [1, 0] })
    expect(await counted(own)).toMatchObject({ 1: [undefined, undefined] })
    const { body } = await call('GET', 'namespaces/ops')
    expect(body.root_repository_size).toBeGreaterThan(0)
    expect(body).not.toHaveProperty('billable_members_count')
  })

  test('tell whether a path is taken, and suggest another', async () => {
    const check = async (path: string) => (await call('GET', `namespaces/${path}`, undefined, own)).body
    expect(await check('OPS/exists')).toEqual({ exists: true, suggests: ['OPS1'] })
    expect(await check('new/exists')).toEqual({ exists: false, suggests: [] })
    expect(await check('tools/exists')).toEqual({ exists: false, suggests: [] })
    expect(await check('tools/exists?parent_id=1')).toEqual({ exists: true, suggests: ['tools1'] })
    // The caller cannot see this group.
    expect(await check('ops/exists?parent_id=3')).toEqual({ exists: false, suggests: [] })
  })
})

test('the health of the service', async () => {
  const ask = async (path: string) => {
    const response = await fetch(server.url + path)
    return [response.status, await response.text()]
  }
  expect(await ask('/-/health')).toEqual([200, 'GitLab OK'])
  expect(await ask('/-/liveness')).toEqual([200, '{"status":"ok"}'])
  expect(await ask('/-/readiness')).toEqual([200, '{"status":"ok","master_check":[{"status":"ok"}]}'])
  expect(await ask('/-/readiness?all=1')).toEqual([
    200,
    '{"status":"ok","master_check":[{"status":"ok"}],"db_check":[{"status":"ok"}]}',
  ])
  const version = await fetch(`${server.url}//api/v4/version`, { headers: { 'PRIVATE-TOKEN': token } })
  expect(version.status).toBe(200)
})
