import { accessLevels, type Group, type User, updateProject } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let world: World
let root: User
let olga: User
let alice: User
let acme: Group
let tools: Group

beforeEach(async () => {
  server = await GraphqlServer.start()
  world = server.world
  root = await world.user('root', { isAdministrator: true })
  olga = await world.user('olga')
  alice = await world.user('alice')
  acme = await world.group('acme')
  tools = await world.group('tools', { parent: acme })
  await world.member(acme, olga, accessLevels.owner)
  await world.member(acme, alice, accessLevels.developer, '2027-01-01')
})
afterEach(() => server.close())

const paths = (connection: { nodes: { fullPath: string }[] }) => connection.nodes.map(({ fullPath }) => fullPath)

describe('one group', () => {
  test('shows members and subgroups', async () => {
    const { body } = await server.ask(
      `query($path: ID!) {
        group(fullPath: $path) {
          id fullPath requestAccessEnabled
          descendantGroups(first: 2) { nodes { fullPath } }
          groupMembers(relations: [DIRECT], sort: ACCESS_LEVEL_DESC) {
            nodes { id accessLevel { integerValue stringValue } user { username } expiresAt }
          }
        }
        queryComplexity { score }
      }`,
      { as: alice, variables: { path: 'ACME' } },
    )
    expect(body).toEqual({
      data: {
        group: {
          id: 'gid://svc/Group/1',
          fullPath: 'acme',
          requestAccessEnabled: true,
          descendantGroups: { nodes: [{ fullPath: 'acme/tools' }] },
          groupMembers: {
            nodes: [
              {
                id: 'gid://svc/GroupMember/1',
                accessLevel: { integerValue: 50, stringValue: 'OWNER' },
                user: { username: 'olga' },
                expiresAt: null,
              },
              {
                id: 'gid://svc/GroupMember/2',
                accessLevel: { integerValue: 30, stringValue: 'DEVELOPER' },
                user: { username: 'alice' },
                expiresAt: '2027-01-01T00:00:00Z',
              },
            ],
          },
        },
        // The group costs 28 and queryComplexity 2.
        queryComplexity: { score: 30 },
      },
    })
  })

  test('returns null for a private group, as for a missing one, to callers who are not members', async () => {
    const stranger = await world.user('stranger')
    const query = '{ group(fullPath: "acme") { id } none: group(fullPath: "nothing") { id } }'
    for (const as of [stranger, undefined]) {
      expect((await server.ask(query, as && { as })).body).toEqual({ data: { group: null, none: null } })
    }
  })

  test('shows all fields of a group', async () => {
    const app = await world.project('app', tools)
    await world.project('lib', acme)
    const guest = await world.user('guest')
    await world.member(app, guest, accessLevels.guest)
    const query = `{ group(fullPath: "acme/tools") {
      name fullName path webUrl webPath editPath visibility description createdAt updatedAt archived markedForDeletion
      emailsEnabled emailsDisabled projectCreationLevel subgroupCreationLevel
      groupMembersCount projectsCount descendantGroupsCount maxAccessLevel { integerValue stringValue humanAccess }
      parent { fullPath groupMembersCount projectsCount descendantGroupsCount parent { id } }
      rootNamespace { id fullPath } userPermissions { readGroup createProjects changeGroup removeGroup canLeave adminIssue }
      ... on GroupInterface { address: webUrl } ... on Todoable { title: name }
    } }`
    const { body } = await server.ask(query, { as: alice })
    expect(body).toEqual({
      data: {
        group: {
          name: 'tools',
          address: 'https://svc.example.test/groups/acme/tools',
          title: 'tools',
          fullName: 'acme / tools',
          path: 'tools',
          webUrl: 'https://svc.example.test/groups/acme/tools',
          webPath: '/groups/acme/tools',
          editPath: '/groups/acme/tools/-/edit',
          visibility: 'private',
          description: '',
          createdAt: '2026-02-03T04:05:06Z',
          updatedAt: '2026-02-03T04:05:06Z',
          archived: false,
          markedForDeletion: false,
          emailsEnabled: true,
          emailsDisabled: false,
          projectCreationLevel: 'developer',
          subgroupCreationLevel: 'maintainer',
          groupMembersCount: 0,
          projectsCount: 1,
          descendantGroupsCount: 0,
          maxAccessLevel: { integerValue: 30, stringValue: 'DEVELOPER', humanAccess: 'Developer' },
          parent: {
            fullPath: 'acme',
            groupMembersCount: 2,
            projectsCount: 1,
            descendantGroupsCount: 1,
            parent: null,
          },
          rootNamespace: { id: 'gid://svc/Group/1', fullPath: 'acme' },
          userPermissions: {
            readGroup: true,
            createProjects: true,
            changeGroup: false,
            removeGroup: false,
            canLeave: false,
            adminIssue: true,
          },
        },
      },
    })
    // A member of a project sees the groups above it, but not their members.
    expect((await server.ask(query, { as: guest })).body.data.group).toMatchObject({
      maxAccessLevel: { integerValue: 0, stringValue: 'NO_ACCESS', humanAccess: 'No access' },
      parent: { fullPath: 'acme', groupMembersCount: 0, projectsCount: 0, descendantGroupsCount: 1 },
      rootNamespace: { fullPath: 'acme' },
      userPermissions: { readGroup: true, createProjects: false },
    })
  })

  test('does not let the only owner leave', async () => {
    const query = '{ group(fullPath: "acme") { userPermissions { canLeave removeGroup } } }'
    const answer = async (as: User) => (await server.ask(query, { as })).body.data.group.userPermissions
    expect(await answer(olga)).toEqual({ canLeave: false, removeGroup: true })
    expect(await answer(alice)).toEqual({ canLeave: true, removeGroup: false })
    expect(await answer(root)).toEqual({ canLeave: false, removeGroup: true })
    await world.member(acme, await world.user('otto'), accessLevels.owner)
    expect(await answer(olga)).toEqual({ canLeave: true, removeGroup: true })
  })
})

describe('lists of groups', () => {
  beforeEach(async () => {
    const deep = await world.group('deep', { parent: tools })
    await world.group('attic', { parent: acme })
    await world.member(deep, alice, accessLevels.owner)
    await world.group('open', { visibility: 'public' })
  })

  test.each([
    { args: '', found: ['acme', 'acme/attic', 'acme/tools/deep', 'open', 'acme/tools'] },
    { args: '(sort: "path_desc")', found: ['acme/tools', 'open', 'acme/tools/deep', 'acme/attic', 'acme'] },
    { args: '(topLevelOnly: true, sort: "id_desc")', found: ['open', 'acme'] },
    { args: '(ownedOnly: true)', found: ['acme/tools/deep'] },
    { args: '(allAvailable: false, topLevelOnly: true)', found: ['acme'] },
    { args: '(search: "TOO")', found: ['acme/tools'] },
    { args: '(parentPath: "acme")', found: ['acme/attic', 'acme/tools'] },
    { args: '(parentPath: "acme", includeSubgroups: true)', found: ['acme/attic', 'acme/tools/deep', 'acme/tools'] },
    { args: '(visibilityLevel: public)', found: ['open'] },
    { args: '(active: false)', found: [] },
    { args: '(ids: ["gid://svc/Group/1"])', found: ['acme'] },
  ])('lists groups$args', async ({ args, found }) => {
    const { body } = await server.ask(`{ groups${args} { nodes { fullPath } } }`, { as: alice })
    expect(paths(body.data.groups)).toEqual(found)
  })

  test.each([
    { args: '', found: ['acme/attic', 'acme/tools/deep', 'acme/tools'] },
    { args: '(includeParentDescendants: false)', found: ['acme/attic', 'acme/tools'] },
    { args: '(owned: true)', found: ['acme/tools/deep'] },
    { args: '(sort: ID_DESC, first: 1)', found: ['acme/attic'] },
    { args: '(sort: SIMILARITY, search: "t")', found: ['acme/tools', 'acme/attic'] },
    { args: '(sort: SIMILARITY)', found: ['acme/attic', 'acme/tools/deep', 'acme/tools'] },
    { args: '(archived: true)', found: [] },
  ])('lists descendantGroups$args', async ({ args, found }) => {
    const { body } = await server.ask(
      `{ group(fullPath: "acme") { descendantGroups${args} { nodes { fullPath } } } }`,
      {
        as: alice,
      },
    )
    expect(paths(body.data.group.descendantGroups)).toEqual(found)
  })

  test('pages through groups in both directions', async () => {
    const page = async (args: string) => {
      const query = `{ groups(${args}) { count nodes { fullPath } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`
      return (await server.ask(query, { as: alice })).body.data.groups
    }
    const first = await page('first: 2')
    expect([first.count, paths(first), first.pageInfo.hasNextPage]).toEqual([5, ['acme', 'acme/attic'], true])
    const last = await page('last: 2')
    expect([paths(last), last.pageInfo.hasPreviousPage]).toEqual([['open', 'acme/tools'], true])
    expect(paths(await page(`first: 2, after: "${first.pageInfo.endCursor}"`))).toEqual(['acme/tools/deep', 'open'])
  })

  test('returns null for the subgroups of a hidden group and for an unknown sort', async () => {
    const { body } = await server.ask('{ a: groups(parentPath: "acme") { count } b: groups(sort: "size") { count } }')
    expect(body).toMatchObject({ data: { a: null, b: null }, errors: [{ message: 'size is not a sort', path: ['b'] }] })
  })

  test('lists public groups to anonymous callers', async () => {
    const { body } = await server.ask('{ groups(ownedOnly: true) { nodes { fullPath } } }')
    expect(paths(body.data.groups)).toEqual(['open'])
  })
})

describe('projects of a namespace', () => {
  beforeEach(async () => {
    await world.project('app', acme)
    await world.project('site', acme, 'public')
    await world.project('web', tools)
    await world.project('notes', olga)
    await world.project('blog', olga, 'public')
  })

  test.each([
    { args: '', found: ['acme/site', 'acme/app'] },
    { args: '(includeSubgroups: true, sort: PATH_ASC)', found: ['acme/app', 'acme/site', 'acme/tools/web'] },
    { args: '(sort: FULL_PATH_DESC, first: 1)', found: ['acme/site'] },
    { args: '(search: "AP")', found: ['acme/app'] },
    { args: '(search: "s", sort: SIMILARITY)', found: ['acme/site'] },
    { args: '(sort: SIMILARITY)', found: ['acme/site', 'acme/app'] },
    { args: '(ids: ["gid://svc/Project/1", "gid://svc/Project/3"])', found: ['acme/app'] },
    { args: '(archivedOnly: true)', found: [] },
    { args: '(includeArchived: false)', found: ['acme/site', 'acme/app'] },
  ])('lists the projects of a group: projects$args', async ({ args, found }) => {
    const { body } = await server.ask(
      `{ group(fullPath: "acme") { projects${args} { nodes { fullPath } } }
         namespace(fullPath: "acme") { projects${args} { nodes { fullPath } } } }`,
      { as: alice },
    )
    expect(paths(body.data.group.projects)).toEqual(found)
    expect(paths(body.data.namespace.projects)).toEqual(found)
  })

  test('sorts projects by activity', async () => {
    world.clock.advance(60_000)
    await world.perform(root, updateProject, { project: 'acme/app', description: 'new' })
    const { body } = await server.ask(
      '{ group(fullPath: "acme") { projects(sort: ACTIVITY_DESC) { nodes { fullPath } } } }',
      {
        as: alice,
      },
    )
    expect(paths(body.data.group.projects)).toEqual(['acme/app', 'acme/site'])
  })

  test('shows the namespace of a user', async () => {
    const query = `{ namespace(fullPath: "Olga") {
      id name path fullName fullPath visibility webUrl webPath rootNamespace { fullPath }
      userPermissions { createProjects readNamespace adminProject createWorkItem } projects { count nodes { fullPath } } } }`
    const common = {
      id: 'gid://svc/Namespaces::UserNamespace/2',
      name: 'olga Holt',
      path: 'olga',
      fullName: 'olga Holt',
      fullPath: 'olga',
      visibility: 'public',
      webUrl: 'https://svc.example.test/olga',
      webPath: '/olga',
      rootNamespace: { fullPath: 'olga' },
    }
    expect((await server.ask(query)).body.data.namespace).toEqual({
      ...common,
      userPermissions: { createProjects: false, readNamespace: true, adminProject: false, createWorkItem: false },
      projects: { count: 1, nodes: [{ fullPath: 'olga/blog' }] },
    })
    expect((await server.ask(query, { as: olga })).body.data.namespace).toEqual({
      ...common,
      userPermissions: { createProjects: true, readNamespace: true, adminProject: true, createWorkItem: false },
      projects: { count: 2, nodes: [{ fullPath: 'olga/blog' }, { fullPath: 'olga/notes' }] },
    })
  })

  test('shows a group as a namespace, and returns null for a missing or hidden one', async () => {
    const query = `{ namespace(fullPath: "acme/tools") { id webUrl rootNamespace { fullPath }
      userPermissions { createProjects readNamespace adminLabel adminProject } } none: namespace(fullPath: "none") { id } }`
    expect((await server.ask(query, { as: alice })).body.data).toEqual({
      namespace: {
        id: 'gid://svc/Group/2',
        webUrl: 'https://svc.example.test/groups/acme/tools',
        rootNamespace: { fullPath: 'acme' },
        userPermissions: { createProjects: true, readNamespace: true, adminLabel: true, adminProject: false },
      },
      none: null,
    })
    expect((await server.ask(query)).body).toEqual({ data: { namespace: null, none: null } })
  })
})

test('needs a number of statements that depends on the lists in the document, not on the number of groups', async () => {
  const query = `{ groups(first: 100) { nodes { parent { fullPath } rootNamespace { fullPath } groupMembersCount projectsCount
    maxAccessLevel { integerValue } userPermissions { canLeave } descendantGroups { nodes { fullPath } }
    projects { count nodes { fullPath } } groupMembers(first: 5) { nodes { user { username } } } } } }`
  const send = () => server.ask(query, { as: alice })
  await send()
  const few = await server.world.statements(send)
  for (let n = 0; n < 15; n += 1) {
    const group = await world.group(`group${n}`, { parent: acme })
    await world.project('app', group)
    await world.member(group, alice, accessLevels.owner)
  }
  const { body } = await send()
  expect(body.errors).toBeUndefined()
  expect(body.data.groups.nodes).toHaveLength(17)
  expect(await server.world.statements(send)).toBeLessThanOrEqual(few + 1)
})
