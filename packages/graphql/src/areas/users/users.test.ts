import { accessLevels, insertUser, type User, updateUser } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let world: World
let root: User
let alice: User
let bob: User

beforeEach(async () => {
  server = await GraphqlServer.start()
  world = server.world
  root = await world.user('root', { isAdministrator: true })
  alice = await world.user('alice')
  bob = await world.user('bob')
})
afterEach(() => server.close())

const bot = (username: string) =>
  world.core.db.write((db) =>
    insertUser(
      { db, nowMs: world.clock.nowMs() },
      {
        username,
        name: 'deploys',
        email: `${username}@example.test`,
        botHome: { projectId: undefined, groupId: undefined },
      },
    ),
  )

const messages = (body: { errors: { message: string }[] }) => body.errors.map(({ message }) => message)

describe('one user', () => {
  test('shows the current user', async () => {
    const query = 'query { currentUser { id username name state namespace { fullPath } } }'
    expect((await server.ask(query, { as: alice })).body).toEqual({
      data: {
        currentUser: {
          id: 'gid://svc/User/2',
          username: 'alice',
          name: 'alice Holt',
          state: 'active',
          namespace: { fullPath: 'alice' },
        },
      },
    })
    expect((await server.ask(query)).body).toEqual({ data: { currentUser: null } })
  })

  test('finds a user by id or by username, but not by both', async () => {
    const { body } = await server.ask(
      `{ id: user(id: "gid://svc/User/3") { username webPath type bot human active userPermissions { createSnippet } }
         name: user(username: "BOB") { id webUrl createdAt status { emoji } }
         missing: user(username: "unknown") { id } }`,
      { as: alice },
    )
    expect(body).toEqual({
      data: {
        id: {
          username: 'bob',
          webPath: '/bob',
          type: 'HUMAN',
          bot: false,
          human: true,
          active: true,
          userPermissions: { createSnippet: true },
        },
        name: {
          id: 'gid://svc/User/3',
          webUrl: 'https://svc.example.test/bob',
          createdAt: '2026-02-03T04:05:06Z',
          status: null,
        },
        missing: null,
      },
    })
    const wrong = await server.ask('{ a: user { id } b: user(id: "gid://svc/User/3", username: "bob") { id } }')
    expect(wrong.body.data).toEqual({ a: null, b: null })
    expect(messages(wrong.body)).toEqual([
      'Provide either a single username or id',
      'Provide either a single username or id',
    ])
  })

  test('does not show a user by id to anonymous callers', async () => {
    const { body } = await server.ask('{ user(id: "gid://svc/User/3") { id } }')
    expect(body).toEqual({ data: { user: null } })
  })

  test('shows private fields to the user and administrators only', async () => {
    await world.group('acme')
    const query = '{ user(username: "alice") { commitEmail email groupCount projectCount groups { count } } }'
    const nothing = { commitEmail: null, email: null, groupCount: null, projectCount: null, groups: null }
    expect((await server.ask(query, { as: bob })).body).toEqual({ data: { user: nothing } })
    expect((await server.ask(query)).body).toEqual({ data: { user: nothing } })
    const whole = {
      commitEmail: 'alice@example.test',
      email: null,
      groupCount: 0,
      projectCount: 0,
      groups: { count: 0 },
    }
    expect((await server.ask(query, { as: alice })).body).toEqual({ data: { user: whole } })
    expect((await server.ask(query, { as: root })).body).toEqual({ data: { user: whole } })
  })

  test('shows the name of a bot only to callers who may see its project or group', async () => {
    const group = await world.group('acme')
    await world.member(group, alice, accessLevels.guest)
    await world.member(group, await bot('acme-bot'), accessLevels.developer)
    const query = '{ user(username: "acme-bot") { name type namespace { name } } }'
    expect((await server.ask(query, { as: alice })).body.data.user).toEqual({
      name: 'deploys',
      type: 'PROJECT_BOT',
      namespace: { name: 'deploys' },
    })
    for (const as of [bob, undefined]) {
      expect((await server.ask(query, as && { as })).body.data.user).toMatchObject({
        name: '****',
        namespace: { name: '****' },
      })
    }
  })
})

describe('users', () => {
  test('lists users by username, the newest first', async () => {
    await world.perform(root, updateUser, { user: alice.id, publicEmail: 'alice@example.com' })
    const { body } = await server.ask(
      '{ users(usernames: ["alice", "bob"]) { count nodes { id username publicEmail webUrl } } }',
    )
    expect(body).toEqual({
      data: {
        users: {
          count: 2,
          nodes: [
            { id: 'gid://svc/User/3', username: 'bob', publicEmail: null, webUrl: 'https://svc.example.test/bob' },
            {
              id: 'gid://svc/User/2',
              username: 'alice',
              publicEmail: 'alice@example.com',
              webUrl: 'https://svc.example.test/alice',
            },
          ],
        },
      },
    })
  })

  test('does not list all users to anonymous callers', async () => {
    for (const args of ['', '(usernames: [])', '(search: "alice")', '(ids: ["gid://svc/User/2"])']) {
      const { body } = await server.ask(`{ users${args} { nodes { id } } }`)
      expect(body, args).toEqual({ data: { users: null } })
    }
  })

  test('rejects ids together with usernames', async () => {
    const { body } = await server.ask('{ users(ids: ["gid://svc/User/2"], usernames: ["bob"]) { count } }', { as: bob })
    expect(body).toMatchObject({
      data: { users: null },
      errors: [{ message: 'Provide either a list of usernames or ids' }],
    })
    const wrong = await server.ask('{ users(ids: ["gid://svc/Project/2"]) { count } }', { as: bob })
    expect(messages(wrong.body)).toEqual(['gid://svc/Project/2 is not a valid ID for User.'])
  })

  test.each([
    { args: 'ids: ["gid://svc/User/3"]', found: ['bob'] },
    { args: 'ids: []', found: [] },
    { args: 'search: "ALI"', found: ['alice'] },
    { args: 'humans: true', found: ['bob', 'alice', 'root'] },
    { args: 'userTypes: [PROJECT_BOT]', found: ['acme-bot'] },
    { args: 'userTypes: [GHOST]', found: [] },
    { args: 'sort: CREATED_ASC', found: ['root', 'alice', 'bob', 'acme-bot'] },
    { args: 'sort: created_asc, first: 1', found: ['root'] },
    { args: 'groupId: "gid://svc/Group/2"', found: ['alice', 'acme-bot'].toReversed() },
  ])('lists users with $args', async ({ args, found }) => {
    const group = await world.group('acme')
    await world.group('tools', { parent: group })
    await world.member(group, alice, accessLevels.guest)
    await world.member(group, await bot('acme-bot'), accessLevels.developer)
    const { body } = await server.ask(`{ users(${args}) { nodes { username } } }`, { as: alice })
    expect(body.data.users.nodes.map(({ username }: { username: string }) => username)).toEqual(found)
  })

  test('filters by administrators for administrators only, and by group for callers who may see its members', async () => {
    const group = await world.group('acme')
    await world.member(group, alice, accessLevels.guest)
    const query = '{ admins: users(admins: true) { count } members: users(groupId: "gid://svc/Group/1") { count } }'
    expect((await server.ask(query, { as: root })).body.data).toEqual({ admins: { count: 1 }, members: { count: 1 } })
    expect((await server.ask(query, { as: bob })).body).toEqual({ data: { admins: { count: 3 }, members: null } })
  })
})

describe('what a user is a member of', () => {
  test('lists the memberships that the caller may see', async () => {
    const open = await world.group('open', { visibility: 'public' })
    const closed = await world.group('closed')
    const app = await world.project('app', closed)
    for (const each of [open, closed, app]) await world.member(each, alice, accessLevels.developer)
    const query = `{ user(username: "alice") {
      groupMemberships { nodes { id accessLevel { integerValue humanAccess } group { fullPath } } }
      projectMemberships { nodes { id project { fullPath userPermissions { readProject pushCode } } userPermissions { readProject } } }
    } }`
    const openOne = {
      id: 'gid://svc/GroupMember/1',
      accessLevel: { integerValue: 30, humanAccess: 'Developer' },
      group: { fullPath: 'open' },
    }
    expect((await server.ask(query)).body).toEqual({
      data: { user: { groupMemberships: { nodes: [openOne] }, projectMemberships: { nodes: [] } } },
    })
    expect((await server.ask(query, { as: alice })).body).toEqual({
      data: {
        user: {
          groupMemberships: {
            nodes: [{ ...openOne, id: 'gid://svc/GroupMember/2', group: { fullPath: 'closed' } }, openOne],
          },
          projectMemberships: {
            nodes: [
              {
                id: 'gid://svc/ProjectMember/3',
                project: { fullPath: 'closed/app', userPermissions: { readProject: true, pushCode: true } },
                userPermissions: { readProject: true },
              },
            ],
          },
        },
      },
    })
  })

  test('lists the groups of a user, and those in which the user may create projects', async () => {
    const acme = await world.group('acme')
    await world.group('tools', { parent: acme })
    const guests = await world.group('guests')
    await world.project('site', acme)
    await world.member(acme, alice, accessLevels.developer)
    await world.member(guests, alice, accessLevels.guest)
    const { body } = await server.ask(
      `{ currentUser { groupCount projectCount
        own: groups { nodes { fullPath } }
        named: groups(search: "ACM", sort: NAME_ASC) { nodes { fullPath } }
        home: groups(permissionScope: CREATE_PROJECTS, sort: PATH_ASC) { count nodes { fullPath } } } }`,
      { as: alice },
    )
    expect(body.data.currentUser).toEqual({
      groupCount: 2,
      projectCount: 1,
      own: { nodes: [{ fullPath: 'guests' }, { fullPath: 'acme' }] },
      named: { nodes: [{ fullPath: 'acme' }] },
      home: { count: 2, nodes: [{ fullPath: 'acme' }, { fullPath: 'acme/tools' }] },
    })
  })

  test('needs a number of statements that depends on the lists in the document, not on the number of users', async () => {
    const acme = await world.group('acme')
    await world.project('app', acme)
    const query = `{ users(first: 50) { nodes { name groupCount groups { nodes { fullPath maxAccessLevel { integerValue } } }
      groupMemberships { nodes { group { fullPath } userPermissions { readGroup } } } } } }`
    const send = () => server.ask(query, { as: root })
    await world.member(acme, alice, accessLevels.developer)
    await send()
    const few = await server.world.statements(send)
    for (let n = 0; n < 20; n += 1) {
      const user = await world.user(`user${n}`)
      const group = await world.group(`group${n}`)
      await world.member(group, user, accessLevels.owner)
      await world.member(group, await bot(`bot${n}`), accessLevels.guest)
    }
    const { body } = await send()
    expect(body.data.users.nodes).toHaveLength(43)
    expect(body.errors).toBeUndefined()
    expect(await server.world.statements(send)).toBeLessThanOrEqual(few)
  })
})
