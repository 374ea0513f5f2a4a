import { once } from 'node:events'
import { request } from 'node:http'
import { connect } from 'node:net'
import { type Actor, unscopedCommand, unscopedQuery, pageInput, pageOf } from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { silentLog, TrustedProxies } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import Sqlite from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { oauthRoutes } from './oauth.ts'
import { RestError } from './rest-error.ts'
import { type Area, route } from './route.ts'
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

/** By username in PRIVATE-TOKEN or `private_token`. */
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
  const { status, headers: told } = response
  return { status, headers: told, text: await response.text() }
}

const json = (length: number) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ text: 'a'.repeat(length) }),
})

describe('bodies', () => {
  beforeEach(() => start())

  /** Announces a body of 10 MiB and sends only its beginning; an answer that comes has not waited for the rest. */
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

  test('of anonymous are not awaited: they are told that they are anonymous', async () => {
    expect(await announced('/notes', {})).toBe(401)
    expect(await announced('/notes', { 'private-token': 'noor' })).toBe(401)
    expect(await announced('/guests', { 'private-token': 'noor' })).toBe(401)
    expect(await announced('/guests', {})).toBe(413)
    expect(await announced('/settings', { 'private-token': 'mira' })).toBe(403)
    expect(await announced('/notes', { 'private-token': 'mira' })).toBe(413)
  })

  test('64 KiB of them are read, for a credential may be in there', async () => {
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

  test('a description of 1 MiB fits anywhere, a file of 10 MiB in base64 where content is taken', async () => {
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
  ])('with %s is refused before it is parsed', async (reason, body) => {
    const error = JSON.stringify({ error: `JSON has ${reason}` })
    expect(await send(body, 'mira')).toMatchObject({ status: 400, text: error })
    expect((await send(body)).status).toBe(401)
  })

  test('that is nested too deeply is refused before it is parsed, even where it is not closed', async () => {
    expect(await send('['.repeat(50_000), 'mira')).toMatchObject({
      status: 400,
      text: '{"error":"JSON is nested deeper than 64"}',
    })
  })
})

describe('how often', () => {
  const rateLimits = { anonymous: { count: 2, periodSeconds: 60 }, authenticated: { count: 9, periodSeconds: 60 } }

  test('unless it is set: 600 a minute and address, 6,000 a minute and user', async () => {
    await start()
    expect((await call('/events')).headers.get('ratelimit-limit')).toBe('600')
    expect((await call('/events', { as: 'mira' })).headers.get('ratelimit-limit')).toBe('6000')
  })

  test('one request too many: text, and everything that tells until when', async () => {
    await start({ rateLimits })
    for (const status of [200, 200]) expect((await call('/events')).status).toBe(status)
    const answer = await call('/events')
    expect([answer.status, answer.text, answer.headers.get('content-type')]).toEqual([
      429,
      'Retry later\n',
      'text/plain',
    ])
    // The world begins at 04:05:06.789.
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

  test('a preflight is counted, and refused, as any request', async () => {
    await start({ rateLimits })
    const preflight = {
      method: 'OPTIONS',
      headers: { origin: 'https://page.example.test', 'access-control-request-method': 'PUT' },
    }
    const statuses = []
    for (let times = 0; times < 3; times += 1) statuses.push((await call('/notes', preflight)).status)
    expect(statuses).toEqual([200, 200, 429])
  })

  test('an address that tries unknown credentials has no more of them looked up, until the period ends', async () => {
    await start({ rateLimits })
    for (const status of [401, 401, 429, 429]) expect((await call('/events', { as: 'noor' })).status).toBe(status)
    expect(lookups).toBe(2)
    expect((await call('/events', { as: 'mira' })).status).toBe(429)
    await world.clock.advance(53_211)
    expect((await call('/events', { as: 'mira' })).status).toBe(200)
  })

  test('a known credential that a further route refuses is counted for its user, and is no unknown one', async () => {
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

  test('credentials in a body count among them', async () => {
    await start({ rateLimits })
    const guess = () => call('/notes', { method: 'POST', body: new URLSearchParams({ private_token: 'noor' }) })
    for (const status of [401, 401, 429]) expect((await guess()).status).toBe(status)
    expect(lookups).toBe(2)
  })

  test('right credentials are not kept out by others’ anonymous calls', async () => {
    await start({ rateLimits })
    for (const status of [200, 200, 429]) expect((await call('/events')).status).toBe(status)
    expect((await call('/events', { as: 'mira' })).status).toBe(200)
  })

  test('behind a trusted proxy each caller has an allowance; of others the header is nothing', async () => {
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

test('a database that cannot be asked who calls is 503, and no failed credential', async () => {
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

describe('request targets', () => {
  beforeEach(() => start())

  test('8 KiB and no longer', async () => {
    const path = (length: number) => `/events?x=${'a'.repeat(length - '/api/v4/events?x='.length)}`
    expect((await call(path(8_192))).status).toBe(200)
    expect(await call(path(8_193))).toMatchObject({ status: 414, text: '{"error":"414 URI Too Long"}' })
  })

  test('also when the parser gives up first; headers that are too long are something else', async () => {
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

  test('a negative number is the default, nought of items is refused', async () => {
    const told = async (query: string) => {
      const { status, headers, text } = await call(`/events?${query}`)
      return status === 200 ? [headers.get('x-page'), headers.get('x-per-page')] : text
    }
    expect(await told('page=-3&per_page=-7')).toEqual(['1', '20'])
    expect(await told('page=0&per_page=101')).toEqual(['1', '100'])
    expect(await told('per_page=0')).toBe('{"error":"per_page has a value not allowed"}')
  })

  test('10,000 are counted, 10,001 are not', async () => {
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

describe('pages of other origins and OAuth', () => {
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
  ])('%s may be called with %s and Authorization, without cookies', async (path, method, methods) => {
    expect(await ask(path, 'OPTIONS', wanting(method))).toEqual([200, '*', methods, 'Authorization', null])
  })

  test('and its answer may be read', async () => {
    expect(await ask('/oauth/token', 'POST')).toEqual([400, '*', null, null, null])
    expect(await ask('/oauth/revoke', 'POST')).toEqual([400, '*', null, null, null])
  })

  test.each([
    ['/oauth/token', 'DELETE'],
    ['/oauth/authorize', 'GET'],
    ['/oauth/introspect', 'POST'],
  ])('%s with %s may not', async (path, method) => {
    const [, allowed] = await ask(path, 'OPTIONS', wanting(method))
    expect(allowed).toBeNull()
    expect((await ask('/oauth/introspect', 'POST'))[1]).toBeNull()
  })
})
