import { type CallLimit, createIssue, noRequest, perform, type User } from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from './graphql-server.harness.ts'

let server: GraphqlServer
let root: User

/** Three issues per minute, for these tests. */
const limit: CallLimit = { name: 'issues', per: ['user'], periodSeconds: 60, count: 3 }
const limited = createIssue as { limits: readonly CallLimit[] }
const { limits } = limited

beforeEach(async () => {
  limited.limits = [limit]
  server = await GraphqlServer.start()
  root = await server.world.user('root', { isAdministrator: true })
  await server.world.project('app', root, 'public')
})
afterEach(async () => {
  limited.limits = limits
  await server.close()
})

const create = (alias: string) =>
  `${alias}: createIssue(input: { projectPath: "root/app", title: "${alias}" }) { errors issue { iid } }`
const made = (iid: number) => ({ errors: [], issue: { iid: String(iid) } })
const message = 'This endpoint has been requested too many times. Try again later.'

test('counts each mutation; those before the limit stay, and the later ones have errors in a response with 429', async () => {
  const { status, headers, body } = await server.ask(
    `mutation { ${['a', 'b', 'c', 'd', 'e'].map(create).join(' ')} }`,
    {
      as: root,
    },
  )
  // The clock is 6.789 s past the minute.
  expect([status, headers.get('retry-after')]).toEqual([429, '54'])
  expect(body.data).toEqual({ a: made(1), b: made(2), c: made(3), d: null, e: null })
  expect(body.errors).toEqual([{ message }])
  const refused = await server.ask(`mutation { ${create('g')} }`, { as: root })
  expect([refused.status, refused.body]).toEqual([429, { errors: [{ message }] }])
  const issues = await server.world.core.db.read.selectFrom('issues').select('title').orderBy('iid').execute()
  expect(issues.map(({ title }) => title)).toEqual(['a', 'b', 'c'])
  await server.world.clock.advance(54_000)
  const later = await server.ask(`mutation { ${create('f')} }`, { as: root })
  expect([later.status, later.body]).toEqual([200, { data: { f: made(4) } }])
})

test('the operations of a batch count together, and with calls by REST', async () => {
  const { core } = server.world
  const input = { project: 'root/app', title: 'by REST' }
  await perform(core, root, createIssue, input, { request: { address: '127.0.0.1' } })
  await perform(core, root, createIssue, input, { request: noRequest })
  const answer = await server.send({
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await server.tokenOf(root)}` },
    body: JSON.stringify([
      { query: `mutation { ${create('a')} ${create('b')} }` },
      { query: `mutation { ${create('c')} }` },
      { query: '{ currentUser { username } }' },
    ]),
  })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '54'])
  expect(answer.body).toEqual([
    { data: { a: made(3), b: made(4) } },
    { errors: [{ message }] },
    { data: { currentUser: { username: 'root' } } },
  ])
})
