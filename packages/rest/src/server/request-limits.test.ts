import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { type Actor, pageInput, pageOf, unscopedCommand, unscopedQuery } from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { silentLog, TrustedProxies } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { oauthRoutes } from '../auth/oauth.ts'
import { RestError } from '../routing/rest-error.ts'
import { type Area, route } from '../routing/route.ts'
import { type RestOptions, restListener } from './serve-rest.ts'

const MIB = 1024 * 1024

const shape = { schema: z.object({ length: z.int() }), of: (value: unknown) => value }
const noteInput = z.object({ text: z.string().optional() })
const lengthOf = async (_: unknown, { text = '' }: z.output<typeof noteInput>) => ({ length: text.length })
const post = (path: string, head: { caller?: 'anyone' | 'administrator' }, bodyLimitBytes?: number) =>
  route({
    method: 'POST',
    path,
    operation: unscopedCommand({ name: 'write', input: noteInput, ...head }, lengthOf),
    summary: 'Write',
    shape,
    ...(bodyLimitBytes !== undefined && { bodyLimitBytes }),
  })
const area: Area = {
  tag: 'notes',
  routes: [
    post('/notes', {}),
    post('/contents', {}, 16 * MIB),
    post('/settings', { caller: 'administrator' }),
    post('/guests', { caller: 'anyone' }),
    route({
      method: 'GET',
      path: '/events',
      operation: unscopedQuery({ name: 'listEvents', caller: 'anyone', input: z.object(pageInput) }, (context, page) =>
        pageOf(context, context.db.selectFrom('events').select('id').orderBy('id'), page),
      ),
      summary: 'List',
      shape: { schema: z.object({ id: z.int() }), of: (value: unknown) => value },
    }),
  ],
}

let world: World
let server: Listening
let mira: NonNullable<Actor>
let lookups = 0

/** Accepts the username `mira` in PRIVATE-TOKEN or `private_token` as a credential. */
const authenticate: NonNullable<RestOptions['authenticate']> = async (_, { headers, parameters }) => {
  const shown = parameters.private_token ?? headers['private-token']
  if (shown === undefined) return { actor: undefined }
  lookups += 1
  if (shown !== 'mira') throw new RestError(401, { message: '401 Unauthorized' })
  return { actor: mira }
}

async function start(options: Partial<RestOptions> = {}) {
  const listener = restListener({ core: world.core, areas: [area], log: silentLog, authenticate, ...options })
  server = await listen(listener, { host: '127.0.0.1', port: 0 })
}

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  lookups = 0
})

afterEach(async () => {
  await server.close()
  await world.close()
})

async function call(path: string, { as, ...init }: RequestInit & { as?: string } = {}) {
  const headers = { connection: 'close', ...(as && { 'private-token': as }), ...init.headers }
  const response = await fetch(`${server.url}/api/v4${path}`, { ...init, headers })
  const { status, headers: received } = response
  return { status, headers: received, text: await response.text() }
}

const json = (length: number) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ text: 'a'.repeat(length) }),
})

describe('bodies', () => {
  beforeEach(() => start())

  /** Announces a body of 10 MiB and sends only its beginning. If there is a response, it was sent before the body was read. */
  async function announced(path: string, headers: Record<string, string>, length = 10 * MIB) {
    const outgoing = request(`${server.url}/api/v4${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': length, ...headers },
    })
    outgoing.on('error', () => {})
    outgoing.write('{"text":"')
    const [response] = await once(outgoing, 'response')
    outgoing.destroy()
    return response.statusCode
  }

  test('bodies of unauthenticated callers are not read completely before the error for missing authentication', async () => {
    expect(await announced('/notes', {})).toBe(401)
    expect(await announced('/notes', { 'private-token': 'noor' })).toBe(401)
    expect(await announced('/guests', { 'private-token': 'noor' })).toBe(401)
    expect(await announced('/guests', {})).toBe(413)
    expect(await announced('/settings', { 'private-token': 'mira' })).toBe(403)
    expect(await announced('/notes', { 'private-token': 'mira' })).toBe(413)
  })

  test('bodies of unauthenticated callers are read up to 64 KiB, because they may have a credential', async () => {
    const form = (length: number) => ({
      method: 'POST',
      body: new URLSearchParams({ private_token: 'mira', text: 'a'.repeat(length) }),
    })
    expect(await call('/notes', form(65_000))).toMatchObject({ status: 201, text: '{"length":65000}' })
    expect((await call('/notes', form(66_000))).status).toBe(401)
    const parts = new FormData()
    parts.append('private_token', 'mira')
    parts.append('file', new Blob(['a'.repeat(60_000)]), 'a.txt')
    expect((await call('/notes', { method: 'POST', body: parts })).status).toBe(201)
  })

  test('may have a description of 1 MiB, or a file of 10 MiB in Base64 on routes that accept content', async () => {
    const status = async (path: string, length: number) => (await call(path, { ...json(length), as: 'mira' })).status
    expect(await status('/notes', MIB)).toBe(201)
    expect(await status('/notes', 2 * MIB)).toBe(413)
    expect(await status('/contents', 13_981_016)).toBe(201)
    expect(await status('/contents', 16 * MIB)).toBe(413)
  })
})

describe('JSON', () => {
  beforeEach(() => start())

  const send = (body: string, as?: string) =>
    call('/notes', { method: 'POST', headers: { 'content-type': 'application/json' }, body, ...(as && { as }) })

  test.each([
    ['more than 10,000 arrays and objects', `{"a":[${'{},'.repeat(10_000)}{}]}`],
    ['more than 20,000 values', `{"a":[${'0,'.repeat(20_000)}0]}`],
  ])('with %s is rejected before it is parsed', async (reason, body) => {
    const error = JSON.stringify({ error: `JSON has ${reason}` })
    expect(await send(body, 'mira')).toMatchObject({ status: 400, text: error })
    expect((await send(body)).status).toBe(401)
  })

  test('a body that is nested too deeply is rejected before it is parsed, even if it is incomplete', async () => {
    expect(await send('['.repeat(50_000), 'mira')).toMatchObject({
      status: 400,
      text: '{"error":"JSON is nested deeper than 64"}',
    })
  })
})

describe('rate limits', () => {
  const rateLimits = { anonymous: { count: 2, periodSeconds: 60 }, authenticated: { count: 9, periodSeconds: 60 } }

  test('are 600 requests per minute and address, and 6,000 per minute and user by default', async () => {
    await start()
    expect((await call('/events')).headers.get('ratelimit-limit')).toBe('600')
    expect((await call('/events', { as: 'mira' })).headers.get('ratelimit-limit')).toBe('6000')
  })

  test('answer the first request above the limit with text and headers about the end of the period', async () => {
    await start({ rateLimits })
    for (const status of [200, 200]) expect((await call('/events')).status).toBe(status)
    const answer = await call('/events')
    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([
      429,
      'Retry later\n',
      'text/plain',
    ])
    // The clock of the test world begins at 04:05:06.789.
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'ratelimit-name': 'throttle_unauthenticated_api',
      'ratelimit-limit': '2',
      'ratelimit-observed': '3',
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(Date.UTC(2026, 1, 3, 4, 6) / 1_000),
      'ratelimit-resettime': 'Tue, 03 Feb 2026 04:06:00 GMT',
      'retry-after': '54',
    })
  })

  test('count no preflights, because browsers send them without credentials', async () => {
    await start({ rateLimits })
    const preflight = {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example.test', 'access-control-request-method': 'PUT' },
    }
    const statuses = []
    for (let times = 0; times < 3; times += 1) statuses.push((await call('/notes', preflight)).status)
    expect(statuses).toEqual([200, 200, 200])
    const { headers } = await call('/notes', { headers: { origin: 'https://page.example.test' } })
    expect(headers.get('ratelimit-observed')).toBe('1')
    const exposed = headers.get('access-control-expose-headers')?.split(', ')
    expect(exposed).toEqual(
      expect.arrayContaining(['Retry-After', 'RateLimit-Remaining', 'RateLimit-Reset', 'Link', 'X-Total']),
    )
  })

  test('reject all credentials from an address that has sent too many unknown ones, until the period ends', async () => {
    await start({ rateLimits })
    for (const status of [401, 401, 429, 429]) expect((await call('/events', { as: 'noor' })).status).toBe(status)
    expect(lookups).toBe(2)
    expect((await call('/events', { as: 'mira' })).status).toBe(429)
    await world.clock.advance(53_211)
    expect((await call('/events', { as: 'mira' })).status).toBe(200)
  })

  test('count a valid credential that an extra route rejects for its user, and not as an unknown credential', async () => {
    const refusal = Object.assign(new RestError(401, { message: 'no scope' }), { userId: mira.id })
    const extra = {
      method: 'GET' as const,
      path: '/extra',
      body: undefined,
      callerId: () => Promise.reject(refusal),
      admit: () => Promise.reject(refusal),
    }
    await start({ rateLimits, extraRoutes: [extra] })
    const statusOf = async (path: string) => (await fetch(server.url + path)).status
    for (let times = 0; times < rateLimits.authenticated.count; times += 1) expect(await statusOf('/extra')).toBe(401)
    expect(await statusOf('/extra')).toBe(429)
    expect((await call('/events')).status).toBe(200)
  })

  test('count unknown credentials in a body', async () => {
    await start({ rateLimits })
    const guess = () => call('/notes', { method: 'POST', body: new URLSearchParams({ private_token: 'noor' }) })
    for (const status of [401, 401, 429]) expect((await guess()).status).toBe(status)
    expect(lookups).toBe(2)
  })

  test('do not affect a valid credential if anonymous requests from the same address are above the limit', async () => {
    await start({ rateLimits })
    for (const status of [200, 200, 429]) expect((await call('/events')).status).toBe(status)
    expect((await call('/events', { as: 'mira' })).status).toBe(200)
  })

  test('count each client behind a trusted proxy, and ignore X-Forwarded-For from other peers', async () => {
    await start({ rateLimits, trustedProxies: new TrustedProxies(['127.0.0.1']) })
    const from = async (address: string) => (await call('/events', { headers: { 'x-forwarded-for': address } })).status
    expect([await from('192.0.2.1'), await from('192.0.2.1'), await from('192.0.2.1')]).toEqual([200, 200, 429])
    expect(await from('198.51.100.9, 192.0.2.1')).toBe(429)
    expect(await from('192.0.2.2')).toBe(200)
    await server.close()
    await start({ rateLimits })
    expect([await from('192.0.2.1'), await from('192.0.2.2'), await from('192.0.2.3')]).toEqual([200, 200, 429])
  })
})

test('answers 503 if the database fails during authentication, and does not count an unknown credential', async () => {
  const failing = async () => {
    lookups += 1
    throw new Sqlite.SqliteError('disk I/O error', 'SQLITE_IOERR')
  }
  await start({
    authenticate: failing,
    rateLimits: { anonymous: { count: 1, periodSeconds: 60 }, authenticated: { count: 1, periodSeconds: 60 } },
  })
  const answer = await call('/events', { as: 'mira' })
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
  await call('/events', { as: 'mira' })
  expect(lookups).toBe(2)
})

describe('URLs', () => {
  beforeEach(() => start())

  test('may have at most 8 KiB', async () => {
    const path = (length: number) => `/events?x=${'a'.repeat(length - '/api/v4/events?x='.length)}`
    expect((await call(path(8_192))).status).toBe(200)
    expect(await call(path(8_193))).toMatchObject({ status: 414, text: '{"error":"414 URI Too Long"}' })
  })

  test('that exceed the limit of the parser get 414, and headers that are too long get 431', async () => {
    const firstLine = async (head: string) => {
      const socket = connect(server.port, '127.0.0.1').setEncoding('latin1')
      socket.write(head)
      const [data] = await once(socket, 'data')
      socket.destroy()
      return data.split('\r\n')[0]
    }
    const long = 'a'.repeat(40_000)
    expect(await firstLine(`GET /api/v4/events?x=${long}`)).toBe('HTTP/1.1 414 URI Too Long')
    expect(await firstLine(`GET / HTTP/1.1\r\nx: ${long}`)).toBe('HTTP/1.1 431 Request Header Fields Too Large')
    expect(await firstLine('nonsense\r\n\r\n')).toBe('HTTP/1.1 400 Bad Request')
  })
})

describe('pages', () => {
  beforeEach(() => start())

  test('treat negative numbers as the default, and reject 0 items per page', async () => {
    const answer = async (query: string) => {
      const { status, headers, text } = await call(`/events?${query}`)
      return status === 200 ? [headers.get('x-page'), headers.get('x-per-page')] : text
    }
    expect(await answer('page=-3&per_page=-7')).toEqual(['1', '20'])
    expect(await answer('page=0&per_page=101')).toEqual(['1', '100'])
    expect(await answer('per_page=0')).toBe('{"error":"per_page has a value not allowed"}')
  })

  test('have totals for up to 10,000 items', async () => {
    const add = (count: number) => {
      const event = { type: 'x.y', object_id: 1, details: '{}', at_ms: 0 }
      return world.core.db.write((db) => db.insertInto('events').values(Array(count).fill(event)).execute())
    }
    await world.core.db.write((db) => db.deleteFrom('events').execute())
    for (let hundreds = 0; hundreds < 20; hundreds += 1) await add(500)
    const counted = await call('/events?page=100&per_page=100')
    expect([counted.headers.get('x-total'), counted.headers.get('x-total-pages')]).toEqual(['10000', '100'])
    expect(counted.headers.get('link')).toContain('rel="last"')
    await add(1)
    const uncounted = await call('/events?page=100&per_page=100')
    expect([uncounted.headers.get('x-total'), uncounted.headers.get('x-total-pages')]).toEqual([null, null])
    expect(uncounted.headers.get('x-next-page')).toBe('101')
    expect(uncounted.headers.get('link')).not.toContain('rel="last"')
  })
})

describe('OAuth calls from other origins', () => {
  const origin = 'https://page.example.test'
  beforeEach(() => start({ extraRoutes: oauthRoutes(world.core) }))

  async function ask(path: string, method: string, headers: Record<string, string> = {}) {
    const response = await fetch(server.url + path, { method, headers: { origin, connection: 'close', ...headers } })
    await response.arrayBuffer()
    const of = (name: string) => response.headers.get(`access-control-${name}`)
    return [response.status, of('allow-origin'), of('allow-methods'), of('allow-headers'), of('allow-credentials')]
  }
  const wanting = (method: string) => ({
    'access-control-request-method': method,
    'access-control-request-headers': 'authorization',
  })

  test.each([
    ['/oauth/token', 'POST', 'POST'],
    ['/oauth/revoke', 'POST', 'POST'],
    ['/oauth/userinfo', 'GET', 'GET, HEAD, POST'],
  ])('%s allows %s with Authorization, without cookies', async (path, method, methods) => {
    expect(await ask(path, 'OPTIONS', wanting(method))).toEqual([200, '*', methods, 'Authorization', null])
  })

  test('may read the response', async () => {
    expect(await ask('/oauth/token', 'POST')).toEqual([400, '*', null, null, null])
    expect(await ask('/oauth/revoke', 'POST')).toEqual([400, '*', null, null, null])
  })

  test.each([
    ['/oauth/token', 'DELETE'],
    ['/oauth/authorize', 'GET'],
    ['/oauth/introspect', 'POST'],
  ])('%s does not allow %s', async (path, method) => {
    const [, allowed] = await ask(path, 'OPTIONS', wanting(method))
    expect(allowed).toBeNull()
    expect((await ask('/oauth/introspect', 'POST'))[1]).toBeNull()
  })
})
