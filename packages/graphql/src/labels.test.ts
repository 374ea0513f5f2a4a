import { projectLabels, type User } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from './graphql-server.case.ts'

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

test('a page of labels from the beginning, and the one behind it', async () => {
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

test('a page from the end, and the one before it', async () => {
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

test('searched in the fields that are named, and counted', async () => {
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

test('a cursor of nobody, and both ends at once, are told', async () => {
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
