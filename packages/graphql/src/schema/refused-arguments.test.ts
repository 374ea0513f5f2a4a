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
  ['mergeRequests', 'environmentName', 'String', 'prod', 'merge requests are not joined with deployments'],
  ['issues', 'crmContactId', 'String', '1', 'there are no contacts'],
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

test.each([['mergeRequests', 'not', 'onlyReviewer', 'true']])(
  '%s accept a refused member of %s only as null',
  async (field, argument, member, value) => {
    const ask = async (given: string) => {
      const document = `{ project(fullPath: "root/app") { list: ${field}(${argument}: { ${member}: ${given} }) { count } } }`
      return (await server.ask(document, { as: root })).body
    }
    expect(await ask('null')).toEqual({ data: { project: { list: { count: 0 } } } })
    expect(await ask(value)).toMatchObject({
      data: { project: { list: null } },
      errors: [{ message: `${member} is not supported` }],
    })
  },
)

test('a mutation reports a refused member in its payload, and accepts null', async () => {
  const create = async (given: string) => {
    const input = `{ projectPath: "root/app", title: "A", clientMutationId: "1", ${given} }`
    return (await server.ask(`mutation { createIssue(input: ${input}) { clientMutationId errors } }`, { as: root }))
      .body
  }
  const payload = (...errors: string[]) => ({ data: { createIssue: { clientMutationId: '1', errors } } })
  expect(await create('discussionToResolve: "x"')).toEqual(payload('discussionToResolve is not supported'))
  expect(await create('discussionToResolve: null, moveAfterId: null')).toEqual(payload())
})
