import {
  accessLevels,
  archiveProject,
  createIssue,
  type Group,
  type Project,
  projectAccessRequests,
  type User,
  updateProject,
} from '@penstock/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let root: User
let alice: User
let acme: Group
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  root = await world.user('root', { isAdministrator: true })
  alice = await world.user('alice')
  acme = await world.group('acme', { visibility: 'public' })
  app = await world.project('app', acme)
  await world.project('site', acme, 'public')
  await world.member(app, alice, accessLevels.developer)
})
afterEach(() => server.close())

const pathsOf = async (args: string, as?: User) => {
  const { body } = await server.ask(`{ projects${args && `(${args})`} { nodes { fullPath } } }`, as && { as })
  return body.errors ?? body.data.projects.nodes.map(({ fullPath }: { fullPath: string }) => fullPath)
}

test('shows a public project to anonymous callers, and null for a private one', async () => {
  const { body } = await server.ask(`query {
    open: project(fullPath: "acme/site") { id name visibility }
    hidden: project(fullPath: "acme/app") { id }
    nope: project(fullPath: "acme/does-not-exist") { id }
  }`)
  const open = { id: 'gid://svc/Project/2', name: 'site', visibility: 'public' }
  expect(body).toEqual({ data: { open, hidden: null, nope: null } })
})

test('shows all fields of a project', async () => {
  await server.world.perform(root, updateProject, { project: app.id, description: 'Runs <everything>' })
  const { body } = await server.ask(
    `{ project(fullPath: "ACME/app") {
      nameWithNamespace path webUrl webPath editPath httpUrlToRepo sshUrlToRepo description descriptionHtml
      createdAt topics starCount isForked archived issuesEnabled wikiEnabled importStatus ciConfigPathOrDefault
      maxAccessLevel { humanAccess } namespace { id fullPath } group { fullPath } rootGroup { id } forkedFrom { id }
      userPermissions { createSnippet adminProject pushCode downloadCode removeProject canLeave }
    } }`,
    { as: alice },
  )
  expect(body.errors).toBeUndefined()
  expect(body.data.project).toEqual({
    nameWithNamespace: 'acme / app',
    path: 'app',
    webUrl: 'https://svc.example.test/acme/app',
    webPath: '/acme/app',
    editPath: '/acme/app/edit',
    httpUrlToRepo: 'https://svc.example.test/acme/app.git',
    sshUrlToRepo: 'git@svc.example.test:acme/app.git',
    description: 'Runs <everything>',
    descriptionHtml: 'Runs &#60;everything&#62;',
    createdAt: '2026-02-03T04:05:06Z',
    topics: [],
    starCount: 0,
    isForked: false,
    archived: false,
    issuesEnabled: true,
    wikiEnabled: true,
    importStatus: 'none',
    ciConfigPathOrDefault: '.svc-ci.yml',
    maxAccessLevel: { humanAccess: 'Developer' },
    namespace: { id: 'gid://svc/Group/1', fullPath: 'acme' },
    group: { fullPath: 'acme' },
    rootGroup: { id: 'gid://svc/Group/1' },
    forkedFrom: null,
    userPermissions: {
      createSnippet: true,
      adminProject: false,
      pushCode: true,
      downloadCode: true,
      removeProject: false,
      canLeave: true,
    },
  })
})

test('requestAccess is true while a request for access would succeed', async () => {
  const noor = await server.world.user('noor')
  const mayRequest = async (as: User | undefined) => {
    const document = '{ project(fullPath: "acme/site") { userPermissions { requestAccess } } }'
    return (await server.ask(document, as && { as })).body.data.project.userPermissions.requestAccess
  }
  expect([await mayRequest(undefined), await mayRequest(root), await mayRequest(noor)]).toEqual([false, false, true])
  await server.world.perform(noor, projectAccessRequests.create, { parent: 'acme/site' })
  expect(await mayRequest(noor)).toBe(false)
})

test('shows no group for a personal project, and does not let its owner leave', async () => {
  await server.world.project('notes', alice)
  const fields = 'namespace { id fullPath } group { id } rootGroup { id } userPermissions { canLeave renameProject }'
  const { body } = await server.ask(`{ project(fullPath: "alice/notes") { ${fields} } }`, { as: alice })
  expect(body.data.project).toEqual({
    namespace: { id: expect.stringMatching(/^gid:\/\/svc\/Namespaces::UserNamespace\/\d+$/), fullPath: 'alice' },
    group: null,
    rootGroup: null,
    userPermissions: { canLeave: false, renameProject: true },
  })
})

test('hides a group that the caller may not see', async () => {
  await server.world.core.db.write((tx) =>
    tx.updateTable('groups').set({ visibility: 'private' }).where('id', '=', acme.id).execute(),
  )
  const document = '{ project(fullPath: "acme/site") { group { id } rootGroup { id } namespace { id } } }'
  const hidden = { group: null, rootGroup: null, namespace: null }
  expect((await server.ask(document)).body.data.project).toEqual(hidden)
  expect((await server.ask(document, { as: root })).body.data.project.group).toEqual({ id: 'gid://svc/Group/1' })
})

test('denies changes in an archived project, also to administrators', async () => {
  await server.world.perform(root, archiveProject, { project: app.id })
  const fields = 'archived userPermissions { pushCode createIssue adminProject readProject }'
  const { body } = await server.ask(`{ project(fullPath: "acme/app") { ${fields} } }`, { as: root })
  expect(body.data.project).toEqual({
    archived: true,
    userPermissions: { pushCode: false, createIssue: false, adminProject: true, readProject: true },
  })
})

test('shows null for disabled features, also to administrators, and the stored settings', async () => {
  const features = {
    issuesEnabled: false,
    mergeRequestsEnabled: false,
    jobsEnabled: false,
    repositoryAccessLevel: 'disabled',
  }
  const settings = { mergeMethod: 'ff', squashOption: 'always', mergeCommitTemplate: '%{title}', topics: ['ci', 'go'] }
  await server.world.perform(root, updateProject, { project: app.id, ...features, ...settings })
  const query = `{ project(fullPath: "acme/app") {
    issuesEnabled mergeRequestsEnabled jobsEnabled snippetsEnabled openIssuesCount openMergeRequestsCount
    issues { nodes { id } } mergeRequests { nodes { id } } pipelines { nodes { id } } labels { nodes { id } }
    userPermissions { createIssue createMergeRequestIn downloadCode pushCode adminProject }
    mergeRequestsFfOnlyEnabled squashReadOnly mergeCommitTemplate topics
  } }`
  for (const as of [root, alice]) {
    const { body } = await server.ask(query, { as })
    expect(body.data.project).toEqual({
      issuesEnabled: false,
      mergeRequestsEnabled: false,
      jobsEnabled: false,
      snippetsEnabled: true,
      openIssuesCount: null,
      openMergeRequestsCount: null,
      issues: null,
      mergeRequests: null,
      pipelines: null,
      labels: null,
      userPermissions: {
        createIssue: false,
        createMergeRequestIn: false,
        downloadCode: false,
        pushCode: false,
        adminProject: as === root,
      },
      mergeRequestsFfOnlyEnabled: true,
      squashReadOnly: true,
      mergeCommitTemplate: '%{title}',
      topics: ['ci', 'go'],
    })
  }
  expect(await pathsOf('topics: ["GO"]', alice)).toEqual(['acme/app'])
  expect(await pathsOf('withIssuesEnabled: true', alice)).toEqual(['acme/site'])
})

test('counts the open issues that the caller may see', async () => {
  const { world } = server
  const bob = await world.user('bob')
  for (const confidential of [false, true, true]) {
    await world.perform(root, createIssue, { project: 'acme/site', title: 'Late', confidential })
  }
  const countFor = async (as?: User) => {
    const document = '{ project(fullPath: "acme/site") { openIssuesCount openMergeRequestsCount } }'
    return (await server.ask(document, as && { as })).body.data.project
  }
  expect(await countFor()).toEqual({ openIssuesCount: 1, openMergeRequestsCount: 0 })
  expect(await countFor(bob)).toEqual({ openIssuesCount: 1, openMergeRequestsCount: 0 })
  expect(await countFor(root)).toEqual({ openIssuesCount: 3, openMergeRequestsCount: 0 })
})

test('counts open merge requests for callers who may read them', async () => {
  const { world } = server
  const guest = await world.user('guest')
  await world.member(app, guest, accessLevels.guest)
  const draft = { project: app.id, title: 'Faster', sourceBranch: 'fast', targetBranch: 'main' }
  await world.mergeRequest(alice, draft)
  const document = '{ project(fullPath: "acme/app") { openMergeRequestsCount } }'
  expect((await server.ask(document, { as: alice })).body.data.project.openMergeRequestsCount).toBe(1)
  expect((await server.ask(document, { as: guest })).body.data.project.openMergeRequestsCount).toBeNull()
})

describe('the list of projects', () => {
  beforeEach(async () => {
    await server.world.project('notes', alice, 'public')
    await server.world.project('siteplan', alice)
  })

  test.each([
    ['', ['alice/siteplan', 'alice/notes', 'acme/site', 'acme/app']],
    ['sort: "name_asc"', ['acme/app', 'alice/notes', 'acme/site', 'alice/siteplan']],
    ['sort: "full_path_desc"', ['alice/siteplan', 'alice/notes', 'acme/site', 'acme/app']],
    ['search: "SITE", sort: "similarity"', ['acme/site', 'alice/siteplan']],
    ['search: "acme", searchNamespaces: true', ['acme/site', 'acme/app']],
    ['search: "acme"', []],
    ['ids: ["gid://svc/Project/999999999999999"]', []],
    ['ids: ["gid://svc/Project/1", "gid://svc/Project/3"]', ['alice/notes', 'acme/app']],
    ['ids: []', []],
    ['fullPaths: ["Acme/APP", "no/thing"]', ['acme/app']],
    ['namespacePath: "acme"', ['acme/site', 'acme/app']],
    ['namespacePath: "alice", visibilityLevel: public', ['alice/notes']],
    ['namespacePath: "unknown"', []],
    ['personal: true', ['alice/siteplan', 'alice/notes']],
    ['personal: true, namespacePath: "root"', []],
    ['membership: true', ['alice/siteplan', 'alice/notes', 'acme/app']],
    ['minAccessLevel: MAINTAINER', ['alice/siteplan', 'alice/notes']],
    ['topics: ["go"]', []],
    ['withIssuesEnabled: true, first: 1', ['alice/siteplan']],
  ])('lists projects for a member: %s', async (args, expected) => {
    expect(await pathsOf(args, alice)).toEqual(expected)
  })

  test('lists only public projects to anonymous callers', async () => {
    expect(await pathsOf('')).toEqual(['alice/notes', 'acme/site'])
    expect(await pathsOf('personal: true')).toEqual([])
  })

  test('lists archived projects unless they are excluded', async () => {
    await server.world.perform(root, archiveProject, { project: 'acme/site' })
    expect(await pathsOf('namespacePath: "acme", archived: EXCLUDE', root)).toEqual(['acme/app'])
    expect(await pathsOf('namespacePath: "acme", archived: INCLUDE', root)).toEqual(['acme/site', 'acme/app'])
    expect(await pathsOf('namespacePath: "acme", archived: ONLY', root)).toEqual(['acme/site'])
  })

  test('reports invalid arguments', async () => {
    expect(await pathsOf('sort: "beauty_asc"')).toMatchObject([{ message: 'Sort is not included in the list' }])
    expect(await pathsOf('ids: ["gid://svc/Group/1"]')).toMatchObject([
      { message: 'gid://svc/Group/1 is not a valid ID for Project.', path: ['projects'] },
    ])
  })

  test.each(['name_asc', 'created_desc', 'similarity'])('pages through projects in the order %s', async (sort) => {
    const whole = await pathsOf(`sort: "${sort}", search: "e"`, root)
    const found: string[] = []
    for (let after = ''; ; ) {
      const page = `{ projects(sort: "${sort}", search: "e", first: 1, after: "${after}") {
        count nodes { fullPath } pageInfo { hasNextPage endCursor } } }`
      const { count, nodes, pageInfo } = (await server.ask(page, { as: root })).body.data.projects
      expect(count).toBe(whole.length)
      found.push(nodes[0].fullPath)
      if (!pageInfo.hasNextPage) break
      after = pageInfo.endCursor
    }
    expect(whole.length).toBe(3)
    expect(found).toEqual(whole)
  })
})

test('needs as many statements for twenty projects as for two', async () => {
  const { world } = server
  for (let index = 0; index < 18; index += 1) {
    const group = await world.group(`team${index}`)
    await world.project('tool', group, 'private')
  }
  const list = (first: number) => `{ projects(first: ${first}) { count nodes {
    nameWithNamespace openIssuesCount openMergeRequestsCount maxAccessLevel { integerValue }
    group { id } rootGroup { id } namespace { id } userPermissions { pushCode canLeave }
    label(title: "bug") { id } labels { nodes { title } }
  } } }`
  const ask = async (first: number) => {
    const { body } = await server.ask(list(first), { as: root })
    expect(body.errors).toBeUndefined()
    expect(body.data.projects.nodes).toHaveLength(first)
  }
  await server.tokenOf(root)
  const few = await server.world.statements(() => ask(2))
  expect(await server.world.statements(() => ask(20))).toBe(few)
})
