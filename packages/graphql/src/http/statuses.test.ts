import type { Core, User } from '@penstock/core'
import { QueueFullError } from '@penstock/db'
import { jsonLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import type { KyselyPlugin } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from './graphql-server.harness.ts'

let world: World
let server: GraphqlServer
let root: User
let logged: string
/** Runs before the result of each database statement is returned. */
let beforeResult: () => Promise<void>
/** Ends the statements that never return a result, because they hold connections. */
let release: () => void

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  await world.project('app', root, 'public')
  beforeResult = async () => {}
  release = () => {}
  logged = ''
})
afterEach(() => {
  release()
  return server.close()
})

/** Lets statements return no result until the end of the test. */
function blockResults(): void {
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  beforeResult = () => released
}

async function start(options: Parameters<typeof GraphqlServer.start>[0] = {}): Promise<void> {
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      await beforeResult()
      return result
    },
  }
  const { db } = world.core
  const core: Core = {
    ...world.core,
    db: {
      read: db.read.withPlugin(plugin),
      readWithin: (limit, subscriber) => db.readWithin(limit, subscriber).withPlugin(plugin),
      write: (work, given) => db.write(work, given),
      close: () => db.close(),
    },
  }
  const write = (line: string) => {
    logged += line
  }
  const log = jsonLog({ write }, () => world.clock.nowMs())
  server = await GraphqlServer.start({ log, core, ...options }, world)
}

const PROJECT = '{ echo(text: "a") project(fullPath: "root/app") { id } }'

test('answers 429 with Retry-After above the rate limit, which REST shares', async () => {
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
  // The clock is about six seconds past the minute.
  expect(headers.get('retry-after')).toBe('54')
  expect(await statuses(4, root)).toEqual([200, 200, 200, 429])
  await world.clock.advance(54_000)
  expect(await statuses(1)).toEqual([200])
})

test('counts requests with unknown credentials against the anonymous rate limit', async () => {
  await start({
    rateLimits: { anonymous: { count: 2, periodSeconds: 60 }, authenticated: { count: 9, periodSeconds: 60 } },
  })
  const sendUnknownToken = async () =>
    (await server.send({ method: 'POST', headers: { 'private-token': 'unknown' } })).status
  expect([await sendUnknownToken(), await sendUnknownToken(), await sendUnknownToken()]).toEqual([401, 401, 429])
  expect((await server.ask(PROJECT, { as: root })).status).toBe(429)
})

test.each<[string, boolean]>([
  ['while a field is resolved', false],
  ['while the caller is identified', true],
])('answers 503 with Retry-After and no data if the database is unavailable %s', async (_, isSignedIn) => {
  await start()
  const as = isSignedIn ? { as: root } : {}
  await server.ask(PROJECT, as)
  beforeResult = () => Promise.reject(new QueueFullError())
  const { status, headers, body } = await server.ask(PROJECT, as)
  expect([status, headers.get('retry-after'), body]).toEqual([
    503,
    '5',
    { errors: [{ message: 'Request timed out. Please try a less complex query or a smaller set of records.' }] },
  ])
})

test('answers 500 to an unexpected error, and writes the details to the log only', async () => {
  await start()
  beforeResult = () => Promise.reject(new Error('no such column: hush'))
  const { status, body } = await server.ask(PROJECT)
  expect([status, body]).toEqual([500, { errors: [{ message: 'Internal server error' }] }])
  expect(JSON.parse(logged)).toMatchObject({ event: 'http.request_failed', error: 'no such column: hush', status: 500 })
})

test('answers 500 to a batch if one operation fails unexpectedly', async () => {
  await start()
  beforeResult = () => Promise.reject(new Error('hush'))
  const body = JSON.stringify([{ query: '{ __typename }' }, { query: PROJECT }])
  const answer = await server.send({ method: 'POST', body, headers: { 'content-type': 'application/json' } })
  expect([answer.status, answer.body]).toEqual([500, { errors: [{ message: 'Internal server error' }] }])
})

test('answers after 30 s with the fields resolved so far and an error for each other field', async () => {
  await start()
  blockResults()
  const response = server.ask(PROJECT)
  await world.clock.untilSleeping()
  expect(world.clock.wakeTimesMs[0]! - world.clock.nowMs()).toBe(30_000)
  await world.clock.advance(30_000)
  const { status, body } = await response
  expect([status, body]).toEqual([
    200,
    {
      data: { echo: 'null says: a', project: null },
      errors: [{ message: 'Timeout on Query.project', locations: [{ line: 1, column: 19 }], path: ['project'] }],
    },
  ])
})

test('applies the configured time limit to all operations of a batch together', async () => {
  await start({ timeoutMs: 2_000 })
  blockResults()
  const body = JSON.stringify([{ query: PROJECT }, { query: '{ e: echo(text: "b") }' }, { query: '{ __typename }' }])
  const response = server.send({ method: 'POST', body, headers: { 'content-type': 'application/json' } })
  await world.clock.untilSleeping()
  await world.clock.advance(2_000)
  expect((await response).body).toMatchObject([
    { data: { echo: 'null says: a', project: null } },
    { data: null, errors: [{ message: 'Timeout on Query.echo', path: ['e'] }] },
    { data: { __typename: 'Query' } },
  ])
})

test('cancels the time limit when the request has been answered', async () => {
  await start()
  await server.ask(PROJECT)
  expect(world.clock.wakeTimesMs).toEqual([])
})
