import { groupLabels, projectLabels, type User } from '@penstock/core'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let root: User

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  root = await world.user('root', { isAdministrator: true })
  await world.project('app', root, 'public')
  for (const name of ['bug', 'docs', 'feature']) {
    await world.perform(root, projectLabels.create, { parent: 'root/app', name, color: '#123456' })
  }
})
afterEach(() => server.close())

const labels = (args: string, fields: string) => `{ project(fullPath: "Root/App") { labels(${args}) { ${fields} } } }`
const titles = 'nodes { title } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }'

test('returns the first page of labels and the page after it', async () => {
  const first = (await server.ask(labels('first: 2', titles))).body.data.project.labels
  expect(first).toMatchObject({
    nodes: [{ title: 'bug' }, { title: 'docs' }],
    pageInfo: { hasNextPage: true, hasPreviousPage: false },
  })
  const { body } = await server.ask(labels(`first: 2, after: "${first.pageInfo.endCursor}"`, titles))
  expect(body.data.project.labels).toMatchObject({
    nodes: [{ title: 'feature' }],
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
  })
})

test('returns the last page and the page before it', async () => {
  const last = (await server.ask(labels('last: 2', titles))).body.data.project.labels
  expect(last).toMatchObject({
    nodes: [{ title: 'docs' }, { title: 'feature' }],
    pageInfo: { hasNextPage: false, hasPreviousPage: true },
  })
  const { body } = await server.ask(labels(`last: 2, before: "${last.pageInfo.startCursor}"`, titles))
  expect(body.data.project.labels).toMatchObject({
    nodes: [{ title: 'bug' }],
    pageInfo: { hasNextPage: true, hasPreviousPage: false },
  })
})

test('counts a list once for two of its pages', async () => {
  const cost = (fields: string) =>
    server.world.statements(async () => {
      const { body } = await server.ask(`{ project(fullPath: "root/app") { ${fields} } }`, { as: root })
      expect(body.data.project.one).toEqual({ count: 3 })
    })
  const one = 'one: labels(first: 1) { count }'
  await cost(one)
  expect(await cost(`${one} two: labels(first: 2) { count }`)).toBe(await cost(one))
})

test('searches in the given fields, and counts the results', async () => {
  const { body } = await server.ask(
    `{ project(fullPath: "root/app") {
      found: labels(searchTerm: "O") { count nodes { title color id } }
      not: labels(searchTerm: "o", searchIn: [DESCRIPTION]) { count }
      atMost: labels { count(limit: 1) }
    } }`,
  )
  expect(body).toEqual({
    data: {
      project: {
        found: { count: 1, nodes: [{ title: 'docs', color: '#123456', id: 'gid://svc/ProjectLabel/2' }] },
        not: { count: 0 },
        atMost: { count: 2 },
      },
    },
  })
})

test('reports an invalid cursor, and first together with last', async () => {
  const { body } = await server.ask(
    '{ project(fullPath: "root/app") { a: labels(after: "x") { nodes { id } } b: labels(first: 1, last: 1) { count } } }',
  )
  expect(body.data).toEqual({ project: { a: { nodes: null }, b: null } })
  expect(
    body.errors.map(({ message, path }: { message: string; path: string[] }) => [message, path.join('.')]),
  ).toEqual([
    ['Can only provide either `first` or `last`, not both', 'project.b'],
    ['Please provide a valid cursor', 'project.a.nodes'],
  ])
})

test('shows all fields of a label', async () => {
  const { world } = server
  await world.perform(root, projectLabels.update, { parent: 'root/app', name: 'bug', description: 'Not <so>' })
  const fields = 'title description descriptionHtml color textColor archived lockOnMerge createdAt updatedAt'
  const { body } = await server.ask(`{ project(fullPath: "root/app") { label(title: "bug") { ${fields} } } }`)
  expect(body.data.project.label).toEqual({
    title: 'bug',
    description: 'Not <so>',
    descriptionHtml: 'Not &#60;so&#62;',
    color: '#123456',
    textColor: '#FFFFFF',
    archived: false,
    lockOnMerge: false,
    createdAt: '2026-02-03T04:05:06Z',
    updatedAt: '2026-02-03T04:05:06Z',
  })
})

describe('labels of groups', () => {
  beforeEach(async () => {
    const { world } = server
    const acme = await world.group('acme', { visibility: 'public' })
    const web = await world.group('web', { parent: acme, visibility: 'public' })
    await world.project('site', acme, 'public')
    await world.project('secret', acme)
    await world.project('shop', web, 'public')
    const make = (operation: typeof groupLabels.create, parent: string, name: string) =>
      world.perform(root, operation, { parent, name, color: '#fff' })
    await make(groupLabels.create, 'acme', 'acme')
    await make(groupLabels.create, 'acme/web', 'web')
    for (const path of ['acme/site', 'acme/secret', 'acme/web/shop']) await make(projectLabels.create, path, path)
  })

  const inGroup = async (path: string, args: string, as?: User) => {
    const document = `{ group(fullPath: "${path}") { labels${args && `(${args})`} { count nodes { title } } } }`
    const { count, nodes } = (await server.ask(document, as && { as })).body.data.group.labels
    expect(count).toBe(nodes.length)
    return nodes.map(({ title }: { title: string }) => title)
  }

  test.each([
    ['acme', 'onlyGroupLabels: true', ['acme']],
    ['acme', '', ['acme', 'acme/site']],
    ['acme', 'onlyGroupLabels: true, includeDescendantGroups: true', ['acme', 'web']],
    ['acme', 'includeDescendantGroups: true', ['acme', 'acme/site', 'acme/web/shop', 'web']],
    ['acme/web', 'onlyGroupLabels: true, includeAncestorGroups: true', ['acme', 'web']],
    ['acme', 'archived: true', []],
  ])('lists the labels of %s with (%s) to anonymous callers', async (path, args, titles) => {
    expect(await inGroup(path, args)).toEqual(titles)
  })

  test('lists labels of a private project only to callers who may see it', async () => {
    expect(await inGroup('acme', '', root)).toEqual(['acme', 'acme/secret', 'acme/site'])
  })

  test('finds labels of ancestor groups by title, from projects and groups', async () => {
    const { body } = await server.ask(`{
      project(fullPath: "acme/web/shop") {
        own: label(title: "acme/web/shop") { id } above: label(title: "acme") { id } other: label(title: "acme/site") { id }
      }
      group(fullPath: "acme/web") { above: label(title: "acme") { title } other: label(title: "acme/web/shop") { id } }
    }`)
    expect(body.data).toEqual({
      project: { own: { id: 'gid://svc/ProjectLabel/8' }, above: { id: 'gid://svc/GroupLabel/4' }, other: null },
      group: { above: { title: 'acme' }, other: null },
    })
  })
})

test('finds nothing if the list of search fields is empty', async () => {
  const { status, body } = await server.ask(labels('searchTerm: "bug", searchIn: []', 'count nodes { title }'))
  expect([status, body]).toEqual([200, { data: { project: { labels: { count: 0, nodes: [] } } } }])
})

test('keeps the keys of the response in document order, whichever fields need a lookup', async () => {
  const { body } = await server.ask(`
    query { __typename ...First project(fullPath: "root/app") { labels(first: 2) { pageInfo { hasNextPage } ...Rest } path }
      last: queryComplexity { limit } }
    fragment First on Query {
      project(fullPath: "root/app") { path label(title: "docs") { title id } id webUrl none: label(title: "-") { id } }
      missing: project(fullPath: "-") { id } queryComplexity { limit }
    }
    fragment Rest on LabelConnection { nodes { title id __typename color } count }`)
  expect(body.errors).toBeUndefined()
  // Compares text, because toEqual ignores the order of keys.
  expect(JSON.stringify(body.data)).toBe(
    JSON.stringify({
      __typename: 'Query',
      project: {
        path: 'app',
        label: { title: 'docs', id: 'gid://svc/ProjectLabel/2' },
        id: 'gid://svc/Project/1',
        webUrl: 'https://svc.example.test/root/app',
        none: null,
        labels: {
          pageInfo: { hasNextPage: true },
          nodes: [
            { title: 'bug', id: 'gid://svc/ProjectLabel/1', __typename: 'Label', color: '#123456' },
            { title: 'docs', id: 'gid://svc/ProjectLabel/2', __typename: 'Label', color: '#123456' },
          ],
          count: 3,
        },
      },
      missing: null,
      queryComplexity: { limit: 200 },
      last: { limit: 200 },
    }),
  )
})
