import type { User } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../http/graphql-server.harness.ts'

let server: GraphqlServer
let root: User

beforeEach(async () => {
  server = await GraphqlServer.start()
  root = await server.world.user('root', { isAdministrator: true })
  await server.world.project('app', root)
})
afterEach(() => server.close())

test.each([
  ['mergeRequests', 'approvedBy', '[String!]', ['root'], 'there are no approvals'],
  ['mergeRequests', 'myReactionEmoji', 'String', 'tea', 'there are no reactions'],
  ['issues', 'releaseTag', '[String!]', ['v1'], 'there are no releases'],
])('%s accept %s only as null', async (field, argument, type, value, because) => {
  const document = `query($value: ${type}) { project(fullPath: "root/app") { list: ${field}(${argument}: $value) { count } } }`
  const ask = async (variables: object) => (await server.ask(document, { as: root, variables })).body
  expect(await ask({})).toEqual({ data: { project: { list: { count: 0 } } } })
  expect(await ask({ value: null })).toEqual({ data: { project: { list: { count: 0 } } } })
  expect(await ask({ value })).toMatchObject({
    data: { project: { list: null } },
    errors: [{ message: `Argument '${argument}' is not supported, because ${because}` }],
  })
})
