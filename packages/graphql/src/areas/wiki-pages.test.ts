import { accessLevels, groupWikis, projectWikis, type User, updateGroup, updateProject } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../http/graphql-server.harness.ts'

let server: GraphqlServer
let mira: User
let noor: User

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  mira = await world.user('mira')
  noor = await world.user('noor')
  const ops = await world.group('ops')
  await world.member(ops, mira, accessLevels.owner)
  await world.project('app', ops)
  for (const title of ['home', 'guides/set up', 'guides/run'])
    await world.perform(mira, groupWikis.create, { parent: ops.id, title, content: `Text of ${title}` })
})
afterEach(() => server.close())

const ask = async (document: string, as: User | undefined = mira) => (await server.ask(document, { as })).body

test('pages of a group are listed forwards, in the order of their files', async () => {
  const page = (after: string) =>
    `group(fullPath: "ops") { wikiPages(first: 2${after}) { nodes { title slug } pageInfo { hasNextPage endCursor } } }`
  const first = (await ask(`{ ${page('')} }`)).data.group.wikiPages
  expect(first.nodes).toEqual([
    { title: 'run', slug: 'guides/run' },
    { title: 'set up', slug: 'guides/set-up' },
  ])
  expect(first.pageInfo.hasNextPage).toBe(true)
  const second = await ask(`{ ${page(`, after: "${first.pageInfo.endCursor}"`)} }`)
  expect(second.data.group.wikiPages).toMatchObject({ nodes: [{ slug: 'home' }], pageInfo: { hasNextPage: false } })
  const { errors } = await ask('{ group(fullPath: "ops") { wikiPages(last: 1) { nodes { slug } } } }')
  expect(errors[0].extensions.code).toBe('argumentNotAccepted')
})

const one = (args: string) => `{ wikiPage(${args}) {
  id title name slug content webUrl subscribed userPermissions { readWikiPage createNote } } }`

test('one page is found by its slug and its group', async () => {
  const expected = {
    id: 'gid://svc/WikiPage::Meta/2',
    title: 'set up',
    name: 'set up',
    slug: 'guides/set-up',
    content: 'Text of guides/set up',
    webUrl: 'https://svc.example.test/groups/ops/-/wikis/guides/set-up',
    subscribed: false,
    userPermissions: { readWikiPage: true, createNote: false },
  }
  const slug = 'slug: "Guides/set up"'
  expect(await ask(one(`${slug}, namespaceId: "gid://svc/Group/1"`))).toEqual({ data: { wikiPage: expected } })
  const missing = { data: { wikiPage: null } }
  for (const args of [
    'slug: "none", namespaceId: "gid://svc/Group/1"',
    'slug: "", namespaceId: "gid://svc/Group/1"',
    'namespaceId: "gid://svc/Group/1"',
    slug,
    `${slug}, namespaceId: "gid://svc/Namespaces::UserNamespace/1"`,
    `${slug}, namespaceId: "gid://svc/Group/9"`,
    `${slug}, projectId: "gid://svc/Project/1"`,
  ])
    expect([args, await ask(one(args))]).toEqual([args, missing])
  expect(await ask(one(`${slug}, namespaceId: "gid://svc/Group/1"`), noor)).toEqual(missing)
  const both = await ask(one(`${slug}, namespaceId: "gid://svc/Group/1", projectId: "gid://svc/Project/1"`))
  expect(both).toMatchObject({
    data: { wikiPage: null },
    errors: [{ message: 'Only one of `namespace_id` or `project_id` are allowed.' }],
  })
})

test('the wiki of a project has its own pages, and is null if it is disabled for the caller', async () => {
  const pages =
    '{ project(fullPath: "ops/app") { wikiPages { nodes { slug } } userPermissions { readWiki createWiki } } }'
  expect(await ask(pages)).toEqual({
    data: { project: { wikiPages: { nodes: [] }, userPermissions: { readWiki: true, createWiki: false } } },
  })
  await server.world.perform(mira, projectWikis.create, { parent: 1, title: 'home', content: '' })
  expect(await ask(pages)).toMatchObject({ data: { project: { wikiPages: { nodes: [{ slug: 'home' }] } } } })
  const found = await ask('{ wikiPage(slug: "home", projectId: "gid://svc/Project/1") { webUrl } }')
  expect(found).toEqual({ data: { wikiPage: { webUrl: 'https://svc.example.test/ops/app/-/wikis/home' } } })
  await server.world.perform(mira, updateProject, { project: 1, wikiEnabled: false })
  expect(await ask('{ project(fullPath: "ops/app") { wikiEnabled wikiPages { nodes { slug } } } }')).toEqual({
    data: { project: { wikiEnabled: false, wikiPages: null } },
  })
  await server.world.perform(mira, updateGroup, { group: 1, wikiAccessLevel: 'disabled' })
  expect(await ask('{ group(fullPath: "ops") { wikiPages { nodes { slug } } } }')).toEqual({
    data: { group: { wikiPages: null } },
  })
})

test('a caller subscribes to a page; the subscription moves with it', async () => {
  const subscribe = (id: string, subscribed: boolean, as = mira) =>
    ask(
      `mutation { wikiPageSubscribe(input: { id: "${id}", subscribed: ${subscribed}, clientMutationId: "x" }) {
        clientMutationId errors wikiPage { slug subscribed } } }`,
      as,
    )
  const id = 'gid://svc/WikiPage::Meta/2'
  const outcome = (slug: string, subscribed: boolean) => ({
    data: { wikiPageSubscribe: { clientMutationId: 'x', errors: [], wikiPage: { slug, subscribed } } },
  })
  expect(await subscribe(id, true)).toEqual(outcome('guides/set-up', true))
  expect(await subscribe(id, true)).toEqual(outcome('guides/set-up', true))
  await server.world.perform(mira, groupWikis.update, { parent: 1, slug: 'guides/set-up', title: 'begin' })
  const state = '{ group(fullPath: "ops") { wikiPages { nodes { id slug subscribed } } } }'
  expect((await ask(state)).data.group.wikiPages.nodes[0]).toEqual({ id, slug: 'guides/begin', subscribed: true })
  expect(await subscribe(id, false)).toEqual(outcome('guides/begin', false))
  await server.world.perform(mira, groupWikis.remove, { parent: 1, slug: 'guides/begin' })
  for (const refused of [await subscribe(id, true), await subscribe('gid://svc/WikiPage::Meta/1', true, noor)])
    expect(refused).toMatchObject({
      data: { wikiPageSubscribe: null },
      errors: [{ message: expect.stringMatching(/^The resource that you are attempting to access does not exist/) }],
    })
})

test('ids and subscriptions of a list take a constant number of statements', async () => {
  const { world } = server
  const statements = (count: number) =>
    world.statements(() =>
      ask(`{ group(fullPath: "ops") { wikiPages(first: ${count}) { nodes { id slug subscribed content } } } }`),
    )
  expect(await statements(3)).toBe(await statements(1))
})
