import type { Core, User } from '@penstock/core'
import { QueueFullError } from '@penstock/db'
import { jsonLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from './graphql-server.case.ts'

let world: World
let server: GraphqlServer
let root: User
let logged: string
/** What happens to each answer of the database before it gets anywhere. */
let meanwhile: () => Promise<void>

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  await world.project('app', root, 'public')
  meanwhile = async () => {}
  logged = ''
})
afterEach(() => server.close())

async function start(options: Parameters<typeof GraphqlServer.start>[0] = {}): Promise<void> {
  const read = world.core.db.read.withPlugin({
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      await meanwhile()
      return result
    },
  })
  const { db } = world.core
  const core: Core = {
    ...world.core,
    db: { read, write: (work, given) => db.write(work, given), close: () => db.close() },
  }
  const write = (line: string) => {
    logged += line
  }
  const log = jsonLog({ write }, () => world.clock.nowMs())
  server = await GraphqlServer.start({ log, core, ...options }, world)
}

const PROJECT = '{ echo(text: "a") project(fullPath: "root/app") { id } }'

test('too many requests: 429 with Retry-After, of the counter that REST has', async () => {
  await start({
    rateLimits: { anonymous: { count: 2, periodSeconds: 60 }, authenticated: { count: 3, periodSeconds: 60 } },
  })
  const statuses = async (count: number, as?: User) => {
    const all: number[] = []
    for (let index = 0; index < count; index += 1) all.push((await server.ask(PROJECT, { ...(as && { as }) })).status)
    return all
  }
  expect(await statuses(2)).toEqual([200, 200])
  const { status, headers, body } = await server.ask(PROJECT)
  expect([status, body]).toEqual([
    429,
    { errors: [{ message: 'This endpoint has been requested too many times. Try again later.' }] },
  ])
  // It is six seconds and some past the minute.
  expect(headers.get('retry-after')).toBe('54')
  expect(await statuses(4, root)).toEqual([200, 200, 200, 429])
  await world.clock.advance(54_000)
  expect(await statuses(1)).toEqual([200])
})

test('credentials that nobody knows are counted, in whatever form they come', async () => {
  await start({
    rateLimits: { anonymous: { count: 2, periodSeconds: 60 }, authenticated: { count: 9, periodSeconds: 60 } },
  })
  const guess = async () => (await server.send({ method: 'POST', headers: { 'private-token': 'guess' } })).status
  expect([await guess(), await guess(), await guess()]).toEqual([401, 401, 429])
  expect((await server.ask(PROJECT, { as: root })).status).toBe(429)
})

test.each<[string, boolean]>([
  ['while a field is resolved', false],
  ['when asked who calls', true],
])('a database that cannot serve, %s: 503 with Retry-After, and no part of an answer', async (_, isSignedIn) => {
  await start()
  const as = isSignedIn ? { as: root } : {}
  await server.ask(PROJECT, as)
  meanwhile = () => Promise.reject(new QueueFullError())
  const { status, headers, body } = await server.ask(PROJECT, as)
  expect([status, headers.get('retry-after'), body]).toEqual([
    503,
    '5',
    { errors: [{ message: 'Request timed out. Please try a less complex query or a smaller set of records.' }] },
  ])
})

test('a fault of ours: 500, of which only the log tells more', async () => {
  await start()
  meanwhile = () => Promise.reject(new Error('no such column: hush'))
  const { status, body } = await server.ask(PROJECT)
  expect([status, body]).toEqual([500, { errors: [{ message: 'Internal server error' }] }])
  expect(JSON.parse(logged)).toMatchObject({ event: 'http.request_failed', error: 'no such column: hush', status: 500 })
})

test('a fault in one of a batch is one of all', async () => {
  await start()
  meanwhile = () => Promise.reject(new Error('hush'))
  const body = JSON.stringify([{ query: '{ __typename }' }, { query: PROJECT }])
  const answer = await server.send({ method: 'POST', body, headers: { 'content-type': 'application/json' } })
  expect([answer.status, answer.body]).toEqual([500, { errors: [{ message: 'Internal server error' }] }])
})

test('30 seconds, then what has been found by then, and an error for each field that has not', async () => {
  await start()
  meanwhile = () => new Promise(() => {})
  const asked = server.ask(PROJECT)
  await world.clock.untilSleeping()
  expect(world.clock.wakeTimesMs[0]! - world.clock.nowMs()).toBe(30_000)
  await world.clock.advance(30_000)
  const { status, body } = await asked
  expect([status, body]).toEqual([
    200,
    {
      data: { echo: 'null says: a', project: null },
      errors: [{ message: 'Timeout on Query.project', locations: [{ line: 1, column: 19 }], path: ['project'] }],
    },
  ])
})

test('the time is that of the request, a setting, and for all of a batch', async () => {
  await start({ timeoutMs: 2_000 })
  meanwhile = () => new Promise(() => {})
  const body = JSON.stringify([{ query: PROJECT }, { query: '{ e: echo(text: "b") }' }, { query: '{ __typename }' }])
  const asked = server.send({ method: 'POST', body, headers: { 'content-type': 'application/json' } })
  await world.clock.untilSleeping()
  await world.clock.advance(2_000)
  expect((await asked).body).toMatchObject([
    { data: { echo: 'null says: a', project: null } },
    { data: null, errors: [{ message: 'Timeout on Query.echo', path: ['e'] }] },
    { data: { __typename: 'Query' } },
  ])
})

test('nothing is left waiting for a time that no longer matters', async () => {
  await start()
  await server.ask(PROJECT)
  expect(world.clock.wakeTimesMs).toEqual([])
})
