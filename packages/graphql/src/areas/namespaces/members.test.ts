import { accessLevels, type Group, groupMembers, insertUser, type Project, type User } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let world: World
let olga: User
let alice: User
let bob: User
let acme: Group
let tools: Group
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start()
  world = server.world
  olga = await world.user('olga')
  alice = await world.user('alice')
  bob = await world.user('bob')
  acme = await world.group('acme')
  tools = await world.group('tools', { parent: acme })
  app = await world.project('app', acme)
  await world.member(acme, olga, accessLevels.owner)
  await world.member(acme, alice, accessLevels.developer)
  await world.member(tools, bob, accessLevels.reporter)
  await world.member(app, bob, accessLevels.guest)
})
afterEach(() => server.close())

interface Listed {
  readonly user: { readonly username: string }
  readonly accessLevel: { readonly integerValue: number }
}
const shown = ({ nodes }: { nodes: Listed[] }) =>
  nodes.map(({ user, accessLevel }) => `${user.username} ${accessLevel.integerValue}`)
const one = 'nodes { user { username } accessLevel { integerValue } }'

describe('members of a group', () => {
  test.each([
    { group: 'acme', args: '', found: ['alice 30', 'olga 50'] },
    { group: 'acme/tools', args: '', found: ['bob 20', 'alice 30', 'olga 50'] },
    { group: 'acme/tools', args: '(relations: [DIRECT])', found: ['bob 20'] },
    { group: 'acme/tools', args: '(relations: [INHERITED])', found: ['alice 30', 'olga 50'] },
    { group: 'acme', args: '(relations: [DESCENDANTS])', found: ['bob 20'] },
    { group: 'acme', args: '(relations: [SHARED_FROM_GROUPS])', found: [] },
    { group: 'acme', args: '(relations: [])', found: [] },
    { group: 'acme/tools', args: '(sort: ACCESS_LEVEL_ASC)', found: ['bob 20', 'alice 30', 'olga 50'] },
    { group: 'acme/tools', args: '(sort: USER_FULL_NAME_DESC)', found: ['olga 50', 'bob 20', 'alice 30'] },
    { group: 'acme/tools', args: '(sort: created_asc, first: 1)', found: ['olga 50'] },
    { group: 'acme/tools', args: '(accessLevels: [OWNER, REPORTER])', found: ['bob 20', 'olga 50'] },
    { group: 'acme/tools', args: '(accessLevels: [ADMIN])', found: [] },
    { group: 'acme/tools', args: '(search: "ALI")', found: ['alice 30'] },
    { group: 'acme/tools', args: '(ids: ["gid://svc/GroupMember/1"])', found: ['olga 50'] },
  ])('lists the members of $group $args', async ({ group, args, found }) => {
    const { body } = await server.ask(`{ group(fullPath: "${group}") { groupMembers${args} { ${one} } } }`, {
      as: olga,
    })
    expect(shown(body.data.group.groupMembers)).toEqual(found)
  })

  test('shows all fields of a member', async () => {
    await world.perform(olga, groupMembers.update, {
      parent: 'acme',
      userId: alice.id,
      accessLevel: 30,
      expiresAt: '2027-05-06',
    })
    const { body } = await server.ask(
      `{ group(fullPath: "acme") { groupMembers(search: "alice") { nodes {
        id createdAt updatedAt expiresAt createdBy { username } notificationEmail group { fullPath }
        userPermissions { readGroup createProjects removeGroup viewEditPage createCustomEmoji }
        ... on MemberInterface { accessLevel { stringValue } } } } } }`,
      { as: olga },
    )
    expect(body).toEqual({
      data: {
        group: {
          groupMembers: {
            nodes: [
              {
                id: 'gid://svc/GroupMember/2',
                createdAt: '2026-02-03T04:05:06Z',
                updatedAt: '2026-02-03T04:05:06Z',
                expiresAt: '2027-05-06T00:00:00Z',
                createdBy: null,
                notificationEmail: null,
                group: { fullPath: 'acme' },
                userPermissions: {
                  readGroup: true,
                  createProjects: true,
                  removeGroup: true,
                  viewEditPage: true,
                  createCustomEmoji: false,
                },
                accessLevel: { stringValue: 'DEVELOPER' },
              },
            ],
          },
        },
      },
    })
  })

  test('shows the address for notifications about the group to the member only', async () => {
    const query = `{ group(fullPath: "acme/tools") { groupMembers { nodes { user { username } notificationEmail } } } }`
    const { body } = await server.ask(query, { as: alice })
    expect(body.data.group.groupMembers.nodes).toEqual([
      { user: { username: 'bob' }, notificationEmail: null },
      { user: { username: 'alice' }, notificationEmail: alice.email },
      { user: { username: 'olga' }, notificationEmail: null },
    ])
  })

  test('returns null to callers who may not see the members', async () => {
    // A role in a project shows the groups above it, but not their members.
    const { body } = await server.ask('{ group(fullPath: "acme") { fullPath groupMembers { nodes { id } } } }', {
      as: bob,
    })
    expect(body).toEqual({ data: { group: { fullPath: 'acme', groupMembers: null } } })
  })

  test('lists members of descendants if the caller may see them', async () => {
    const open = await world.group('open', { visibility: 'public' })
    const closed = await world.group('closed', { parent: open })
    await world.member(closed, bob, accessLevels.owner)
    const query = `{ group(fullPath: "open") { groupMembers(relations: [DESCENDANTS]) { ${one} } } }`
    expect(shown((await server.ask(query, { as: bob })).body.data.group.groupMembers)).toEqual(['bob 50'])
    expect(shown((await server.ask(query, { as: alice })).body.data.group.groupMembers)).toEqual([])
    expect(shown((await server.ask(query)).body.data.group.groupMembers)).toEqual([])
  })
})

describe('members of a project', () => {
  test.each([
    { args: '', found: ['bob 10', 'alice 30', 'olga 50'] },
    { args: '(relations: [DIRECT])', found: ['bob 10'] },
    { args: '(relations: [INHERITED], sort: ACCESS_LEVEL_DESC)', found: ['olga 50', 'alice 30'] },
    { args: '(relations: [INVITED_GROUPS, SHARED_INTO_ANCESTORS, DESCENDANTS])', found: [] },
    { args: '(userTypes: [PROJECT_BOT])', found: ['robot 40'] },
    { args: '(userTypes: [HUMAN], first: 1)', found: ['bob 10'] },
    { args: '(userTypes: [GHOST])', found: [] },
  ])('lists projectMembers$args', async ({ args, found }) => {
    if (args.includes('userTypes')) {
      const draft = {
        username: 'robot',
        name: 'robot',
        email: 'robot@example.test',
        botHome: { projectId: app.id, groupId: undefined },
      }
      const robot = await world.core.db.write((db) => insertUser({ db, nowMs: world.clock.nowMs() }, draft))
      await world.member(app, robot, accessLevels.maintainer)
    }
    const { body } = await server.ask(`{ project(fullPath: "acme/app") { projectMembers${args} { ${one} } } }`, {
      as: olga,
    })
    expect(shown(body.data.project.projectMembers)).toEqual(found)
  })

  test('shows the group or project in which each member has the role', async () => {
    const { body } = await server.ask(
      `{ project(fullPath: "acme/app") { projectMembers(sort: CREATED_ASC) { nodes { __typename id
        ... on GroupMember { group { fullPath } } ... on ProjectMember { project { fullPath } userPermissions { adminProject } } } } } }`,
      { as: alice },
    )
    expect(body.data.project.projectMembers.nodes).toEqual([
      { __typename: 'GroupMember', id: 'gid://svc/GroupMember/1', group: { fullPath: 'acme' } },
      { __typename: 'GroupMember', id: 'gid://svc/GroupMember/2', group: { fullPath: 'acme' } },
      {
        __typename: 'ProjectMember',
        id: 'gid://svc/ProjectMember/4',
        project: { fullPath: 'acme/app' },
        userPermissions: { adminProject: false },
      },
    ])
  })
})

describe('changing several members', () => {
  const change = (input: string, as?: User) =>
    server.ask(
      `mutation { groupMemberBulkUpdate(input: { clientMutationId: "m", groupId: "gid://svc/Group/1", ${input} }) {
        clientMutationId errors groupMembers { user { username } accessLevel { stringValue } expiresAt } } }`,
      as && { as },
    )
  const ids = (...users: User[]) => `userIds: [${users.map(({ id }) => `"gid://svc/User/${id}"`).join(', ')}]`
  const levels = async () => {
    const page = await world.perform(olga, groupMembers.list, { parent: 'acme' })
    return page.items.map(({ user, level }) => `${user.username} ${level}`)
  }

  test('changes role and expiry date of all given members', async () => {
    await world.member(acme, bob, accessLevels.guest)
    const { body } = await change(
      `${ids(alice, bob, bob)}, accessLevel: MAINTAINER, expiresAt: "2026-12-31T10:00:00Z"`,
      olga,
    )
    const changed = { accessLevel: { stringValue: 'MAINTAINER' }, expiresAt: '2026-12-31T00:00:00Z' }
    expect(body).toEqual({
      data: {
        groupMemberBulkUpdate: {
          clientMutationId: 'm',
          errors: [],
          groupMembers: [
            { user: { username: 'alice' }, ...changed },
            { user: { username: 'bob' }, ...changed },
          ],
        },
      },
    })
    const cleared = await change(`${ids(alice)}, accessLevel: GUEST, expiresAt: null`, olga)
    expect(cleared.body.data.groupMemberBulkUpdate.groupMembers).toEqual([
      { user: { username: 'alice' }, accessLevel: { stringValue: 'GUEST' }, expiresAt: null },
    ])
  })

  test('changes no member if one of them is not a direct member', async () => {
    const { body } = await change(`${ids(alice, bob)}, accessLevel: MAINTAINER`, olga)
    expect(body).toEqual({
      data: {
        groupMemberBulkUpdate: {
          clientMutationId: 'm',
          errors: ['Only the roles of direct members can be changed'],
          groupMembers: null,
        },
      },
    })
    const past = await change(`${ids(alice)}, accessLevel: GUEST, expiresAt: "2020-01-01"`, olga)
    expect(past.body.data.groupMemberBulkUpdate.errors).toEqual(['Expires at cannot be a date in the past'])
    expect(await levels()).toEqual(['olga 50', 'alice 30'])
  })

  test('rejects a change that the caller may not make, as for a missing group', async () => {
    const refusal = {
      data: { groupMemberBulkUpdate: null },
      errors: [
        {
          message:
            "The resource that you are attempting to access does not exist or you don't have permission to perform this action",
          path: ['groupMemberBulkUpdate'],
        },
      ],
    }
    for (const as of [alice, bob, undefined]) {
      expect((await change(`${ids(alice)}, accessLevel: OWNER`, as)).body).toMatchObject(refusal)
    }
    // This would leave the group without an owner.
    expect((await change(`${ids(olga)}, accessLevel: GUEST`, olga)).body).toMatchObject(refusal)
    expect(await levels()).toEqual(['olga 50', 'alice 30'])
  })

  test('changes members of a project', async () => {
    const { body } = await server.ask(
      `mutation { projectMemberBulkUpdate(input: { projectId: "gid://svc/Project/1", ${ids(bob)}, accessLevel: PLANNER }) {
        errors projectMembers { id accessLevel { integerValue } project { fullPath } } } }`,
      { as: olga },
    )
    expect(body).toEqual({
      data: {
        projectMemberBulkUpdate: {
          errors: [],
          projectMembers: [
            { id: 'gid://svc/ProjectMember/4', accessLevel: { integerValue: 15 }, project: { fullPath: 'acme/app' } },
          ],
        },
      },
    })
  })
})

test('needs a number of statements that depends on the lists in the document, not on the number of projects', async () => {
  const query = `{ group(fullPath: "acme") { projects { nodes { projectMembers(first: 5) { nodes {
    user { username } createdBy { username } ... on ProjectMember { project { fullPath } userPermissions { canLeave } } } } } } } }`
  const send = () => server.ask(query, { as: olga })
  await send()
  const few = await server.world.statements(send)
  for (let n = 0; n < 10; n += 1) {
    const project = await world.project(`project${n}`, acme)
    await world.member(project, bob, accessLevels.developer)
    await world.member(project, alice, accessLevels.maintainer)
  }
  const { body } = await send()
  expect(body.errors).toBeUndefined()
  expect(body.data.group.projects.nodes).toHaveLength(11)
  expect(await server.world.statements(send)).toBeLessThanOrEqual(few)
})
