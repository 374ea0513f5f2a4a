import {
  type Actor,
  command,
  DomainError,
  getProject,
  invalid,
  namespaceRef,
  notFound,
  type Page,
  pageInput,
  query,
  unscopedCommand,
  unscopedQuery,
} from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { RestError } from '../routing/rest-error.ts'
import { type Area, route, type Shape } from '../routing/route.ts'
import { type RestOptions, restListener } from './serve-rest.ts'

const uploadedFile = z.object({ fileName: z.string(), contentType: z.string(), bytes: z.instanceof(Uint8Array) })

interface Thing {
  readonly id: number
  readonly title: string
}

const thingShape: Shape<Thing> = {
  schema: z.object({ id: z.int(), title: z.string(), web_url: z.string() }),
  of: ({ id, title }, { externalUrl }) => ({ id, title, web_url: `${externalUrl}/things/${id}` }),
}

const listThings = unscopedQuery(
  { name: 'listThings', caller: 'anyone', input: z.object({ ...pageInput, state: z.enum(['open']).optional() }) },
  async (_, { page, perPage }): Promise<Page<Thing>> => ({
    items: [{ id: 1, title: 'one' }],
    page,
    perPage,
    hasNext: true,
    total: 30,
  }),
)
const createThing = unscopedCommand(
  {
    limits: [{ name: 'things', per: ['user'], count: 3, periodSeconds: 3_600 }],
    name: 'createThing',
    input: z.object({ title: z.string().min(1), file: uploadedFile.optional() }),
  },
  async ({ actor }, { title, file }) => {
    if (title === 'bug') throw new Error('internal detail')
    if (title === 'taken') throw invalid({ title: ['has already been taken'] })
    return { id: file?.bytes.length ?? actor!.id, title }
  },
)
const removeThing = unscopedCommand(
  { name: 'removeThing', input: z.object({ thingId: z.int() }) },
  async (_, { thingId }) => {
    if (thingId > 9) throw notFound()
  },
)
const adminThing = unscopedQuery(
  { name: 'adminThing', caller: 'administrator', input: z.object({ n: z.int() }) },
  async () => 1,
)
const projectThing = query(
  {
    name: 'projectThing',
    caller: 'anyone',
    input: z.object({ project: namespaceRef }),
    permission: 'read_project',
    subject: (reading, { project }) => getProject(reading, project),
  },
  async ({ subject }) => subject.fullPath,
)
const changeProject = command(
  {
    name: 'changeProject',
    input: z.object({ project: namespaceRef }),
    permission: 'read_project',
    subject: (reading, { project }) => getProject(reading, project),
  },
  async ({ subject }) => subject.fullPath,
)
const readText = unscopedQuery(
  { name: 'readText', caller: 'anyone', input: z.object({ slug: z.string(), format: z.string().optional() }) },
  async (_, { slug }) => slug,
)

const text = (body: string) => ({ type: 'text/plain', body })
const things: Area = {
  tag: 'things',
  routes: [
    route({ method: 'GET', path: '/things', operation: listThings, summary: 'List', shape: thingShape }),
    route({
      method: 'POST',
      path: '/things',
      operation: createThing,
      summary: 'Create',
      shape: thingShape,
      invalid: (fields) => `Failed ${JSON.stringify(fields)}`,
    }),
    route({ method: 'DELETE', path: '/things/:thing_id', operation: removeThing, summary: 'Remove' }),
    route({ method: 'GET', path: '/admin', operation: adminThing, summary: 'Admin', content: () => text('1') }),
    route({
      method: 'GET',
      path: '/projects/:id',
      names: { project: 'id' },
      operation: projectThing,
      summary: 'Read',
      content: text,
    }),
    route({
      method: 'PUT',
      path: '/projects/:id',
      names: { project: 'id' },
      operation: changeProject,
      summary: 'Change',
      content: text,
    }),
    route({
      method: 'GET',
      path: '/texts/:slug',
      operation: readText,
      summary: 'Text',
      content: text,
      endsInName: true,
    }),
    route({
      method: 'GET',
      path: '/pages/*slug',
      operation: readText,
      summary: 'Page',
      content: text,
      endsInName: true,
      encodedTwice: ['slug'],
    }),
  ],
}

let world: World
let server: Listening | undefined
let mira: NonNullable<Actor>

/** Accepts the username `mira` in PRIVATE-TOKEN or `private_token` as a credential. */
const authenticate: NonNullable<RestOptions['authenticate']> = async (
  _,
  { headers, parameters },
  { authenticates },
) => {
  const shown = parameters.private_token ?? headers['private-token']
  if (shown === undefined || !authenticates) return { actor: undefined }
  if (shown !== 'mira') throw new RestError(401, { message: '401 Unauthorized' })
  return { actor: mira }
}

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
})

afterEach(async () => {
  await server?.close()
  server = undefined
  await world.close()
})

async function call(path: string, init: RequestInit & { as?: string } = {}, options: Partial<RestOptions> = {}) {
  server ??= await listen(
    restListener({ core: world.core, areas: [things], log: silentLog, authenticate, ...options }),
    { host: '127.0.0.1', port: 0 },
  )
  const response = await fetch(server.url + path, {
    redirect: 'manual',
    ...init,
    headers: { connection: 'close', ...(init.as && { 'private-token': init.as }), ...init.headers },
  })
  const content = await response.text()
  const json = () => JSON.parse(content)
  return {
    status: response.status,
    headers: response.headers,
    text: content,
    json,
    statusAndJson: () => [response.status, json()],
  }
}
const form = (body: string) => ({ method: 'POST', body: new URLSearchParams(body) })
const json = (body: string) => ({ method: 'POST', body, headers: { 'content-type': 'application/json' } })

describe('Strict-Transport-Security', () => {
  const header = async (options: Partial<RestOptions>, path = '/api/v4/things') =>
    (await call(path, {}, options)).headers.get('strict-transport-security')

  test.each(['/api/v4/things', '/nothing', `/${'a'.repeat(9_000)}`])(
    'is in every response of an HTTPS site',
    async (path) => {
      expect(await header({}, path)).toBe('max-age=31536000')
    },
  )

  test('is not sent if it is set to 0 seconds', async () => {
    expect(await header({ strictTransportSeconds: 0 })).toBeNull()
  })

  test('is not sent by an HTTP site', async () => {
    const core = { ...world.core, settings: { ...world.core.settings, externalUrl: 'http://svc.example.test' } }
    expect(await header({ core })).toBeNull()
  })
})

describe('responses', () => {
  test('a page has its own headers and those of every response', async () => {
    const { status, headers, text } = await call('/api/v4/things?per_page=1&x=y')
    expect([status, text]).toEqual([200, '[{"id":1,"title":"one","web_url":"https://svc.example.test/things/1"}]'])
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'max-age=0, private, must-revalidate',
      'content-type': 'application/json',
      etag: expect.stringMatching(/^W\/"[0-9a-f]{32}"$/),
      link: expect.stringContaining('<https://svc.example.test/api/v4/things?page=2&per_page=1>; rel="next"'),
      vary: 'Origin',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'x-page': '1',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'x-runtime': expect.stringMatching(/^\d+\.\d{6}$/),
      'x-total': '30',
    })
    const meta = JSON.parse(headers.get('x-svc-meta')!)
    expect(meta).toEqual({ correlation_id: headers.get('x-request-id'), version: '1' })
  })

  test('answers 304 if the client already has the content', async () => {
    const etag = (await call('/api/v4/things')).headers.get('etag')!
    const again = await call('/api/v4/things', { headers: { 'if-none-match': `"x", ${etag}` } })
    expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag])
  })

  test('answers 201 to JSON, forms and files, and 204 without a body or a type', async () => {
    const created = { id: mira.id, title: 'x', web_url: `https://svc.example.test/things/${mira.id}` }
    expect(
      (
        await call('/api/v4/things', {
          ...json('{"title":"x"}'),
          headers: { 'private-token': 'mira', 'content-type': 'application/json' },
        })
      ).statusAndJson(),
    ).toEqual([201, created])
    expect((await call('/api/v4/things', form('title=x&private_token=mira'))).statusAndJson()).toEqual([201, created])
    const parts = new FormData()
    parts.append('title', 'x')
    parts.append('file', new Blob(['12345678']), 'a.txt')
    expect((await call('/api/v4/things', { method: 'POST', body: parts, as: 'mira' })).json().id).toBe(8)
    const removed = await call('/api/v4/things/3', {
      method: 'DELETE',
      as: 'mira',
      headers: { 'content-type': 'application/json' },
    })
    expect([removed.status, removed.text, removed.headers.get('content-type')]).toEqual([204, '', null])
  })

  test.each(['guides/set-up.json', 'guides%2Fset-up.json', 'guides%252Fset-up.json'])(
    'passes the name %s on decoded, with its slashes',
    async (path) => {
      expect((await call(`/api/v4/pages/${path}`)).text).toBe('guides/set-up.json')
    },
  )

  test('keeps .json at the end of a name, and ignores it and a trailing slash on other paths', async () => {
    const slug = await call('/api/v4/texts/a%2Fb.json?format=markdown')
    expect([slug.text, slug.headers.get('content-type')]).toEqual(['a/b.json', 'text/plain'])
    for (const path of ['/api/v4/things.json', '/api/v4/things/']) expect((await call(path)).status).toBe(200)
    expect((await call('/api/v4/things/3.json', { method: 'DELETE', as: 'mira' })).status).toBe(204)
  })

  test('answers HEAD like GET without a body, and OPTIONS with the methods', async () => {
    const head = await call('/api/v4/things', { method: 'HEAD' })
    expect([head.status, head.text, head.headers.get('x-total')]).toEqual([200, '', '30'])
    const options = await call('/api/v4/things', { method: 'OPTIONS' })
    expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, POST'])
  })

  test('serves the OpenAPI document without authentication', async () => {
    expect((await call('/api/v4/openapi.json')).json()).toMatchObject({ openapi: '3.1.0' })
  })
})

describe('errors', () => {
  const brokenJson =
    "\nProblem:\n  message body does not match declared format\nResolution:\n  when specifying application/json as content-type, you must pass valid application/json in the request's 'body' "

  test.each<[string, string, RequestInit & { as?: string }, number, unknown]>([
    ['unknown path', '/api/v4/no', {}, 404, { error: '404 Not Found' }],
    ['a slash in an id', '/api/v4/projects/a/b', {}, 404, { error: '404 Not Found' }],
    ['method', '/api/v4/things', { method: 'PUT' }, 405, { error: '405 Not Allowed' }],
    ['version 3', '/api/v3/things', {}, 410, { error: 'API V3 is no longer supported. Use API V4 instead.' }],
    ['format', '/api/v4/things?format=xml', {}, 406, { error: "The requested format 'xml' is not supported." }],
    ['broken JSON, before the credential', '/api/v4/things', json('{'), 400, { error: brokenJson }],
    ['not UTF-8', '/api/v4/things?x=%ff', {}, 400, { error: 'Bad Request' }],
    ['NUL', '/api/v4/things?x=%00', {}, 400, { error: 'Bad Request' }],
    ['a missing credential, before the parameters', '/api/v4/things', form(''), 401, { message: '401 Unauthorized' }],
    ['an unknown credential', '/api/v4/things', { as: 'noor' }, 401, { message: '401 Unauthorized' }],
    ['a call for administrators', '/api/v4/admin', { as: 'mira' }, 403, { message: '403 Forbidden' }],
    ['parameters', '/api/v4/things', { ...form(''), as: 'mira' }, 400, { error: 'title is missing' }],
    ['a value', '/api/v4/things?state=x', {}, 400, { error: 'state does not have a valid value' }],
    [
      'a page',
      '/api/v4/things?page=x&per_page=0',
      {},
      400,
      { error: 'page is invalid, per_page has a value not allowed' },
    ],
    [
      'a rule',
      '/api/v4/things',
      { ...form('title=taken'), as: 'mira' },
      400,
      { message: 'Failed {"title":["has already been taken"]}' },
    ],
    ['an id', '/api/v4/things/x', { method: 'DELETE', as: 'mira' }, 400, { error: 'thing_id is invalid' }],
    ['an unknown record', '/api/v4/things/10', { method: 'DELETE', as: 'mira' }, 404, { message: '404 Not found' }],
    ['an unknown project', '/api/v4/projects/5', {}, 404, { message: '404 Project Not Found' }],
    [
      'an unexpected error',
      '/api/v4/things',
      { ...form('title=bug'), as: 'mira' },
      500,
      { message: '500 Internal Server Error' },
    ],
  ])('%s: %s', async (_, path, init, status, body) => {
    expect((await call(path, init)).statusAndJson()).toEqual([status, body])
  })

  test('rejects a type that is neither JSON nor a form', async () => {
    const answer = await call('/api/v4/things', {
      method: 'POST',
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    })
    expect(answer.statusAndJson()).toEqual([415, { error: "The provided content-type 'text/plain' is not supported." }])
  })

  test('rejects a compressed body because of its encoding, and not its type', async () => {
    const answer = await call('/api/v4/things', {
      method: 'POST',
      body: '{}',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    })
    const error = "The provided content-encoding 'gzip' is not supported; send the body uncompressed."
    expect(answer.statusAndJson()).toEqual([415, { error }])
  })

  test('redirects from the former path of a project if the caller may see the project', async () => {
    const group = await world.group('ops', { visibility: 'public' })
    for (const visibility of ['public', 'private'] as const) {
      const { id } = await world.project(`now-${visibility}`, group, visibility)
      await world.core.db.write((db) =>
        db
          .insertInto('routes')
          .values({ path: `ops/old-${visibility}`, project_id: id, group_id: null, is_former: 1 })
          .execute(),
      )
    }
    const { id } = await world.core.db.read
      .selectFrom('projects')
      .select('id')
      .where('name', '=', 'now-public')
      .executeTakeFirstOrThrow()
    const moved = await call('/api/v4/projects/ops%2Fold-public?x=1')
    const url = `https://svc.example.test/api/v4/projects/${id}?x=1`
    expect([moved.status, moved.headers.get('location'), moved.text]).toEqual([
      301,
      url,
      `This resource has been moved permanently to ${url}`,
    ])
    expect((await call('/api/v4/projects/ops%2Fold-public', { method: 'PUT', as: 'mira' })).statusAndJson()).toEqual([
      405,
      { message: 'Non GET methods are not allowed for moved projects' },
    ])
    expect((await call('/api/v4/projects/ops%2Fold-private')).statusAndJson()).toEqual([
      404,
      { message: '404 Project Not Found' },
    ])
  })
})

describe('other origins', () => {
  const origin = 'https://page.example.test'

  test('may send preflights for any call', async () => {
    const headers = {
      origin,
      'access-control-request-method': 'DELETE',
      'access-control-request-headers': 'private-token',
    }
    const preflight = await call('/api/v4/things/5', { method: 'OPTIONS', headers })
    expect([preflight.status, preflight.text]).toEqual([200, ''])
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': expect.stringContaining('DELETE'),
      'access-control-allow-headers': 'private-token',
      'access-control-max-age': '7200',
    })
  })

  test('may read the headers of lists; only the own origin may send cookies', async () => {
    const { headers } = await call('/api/v4/things', { headers: { origin } })
    expect(headers.get('access-control-allow-origin')).toBe('*')
    expect(headers.get('access-control-expose-headers')).toContain('Link, X-Total, X-Total-Pages')
    const own = await call('/api/v4/things', { headers: { origin: 'https://svc.example.test' } })
    expect(own.headers.get('access-control-allow-origin')).toBe('https://svc.example.test')
    expect(own.headers.get('access-control-allow-credentials')).toBe('true')
    expect((await call('/api/v4/things')).headers.get('access-control-allow-origin')).toBeNull()
  })
})

describe('rate limits', () => {
  const rateLimits = { anonymous: { count: 2, periodSeconds: 60 }, authenticated: { count: 3, periodSeconds: 90 } }
  /** The end of both periods: it is 04:05:06.789, and both the minute and the 90 seconds since 04:04:30 end at 04:06. */
  const endsAt = Date.UTC(2026, 1, 3, 4, 6) / 1_000

  test('apply to all requests of an address until the period ends', async () => {
    const first = await call('/api/v4/things', {}, { rateLimits })
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'ratelimit-name': 'throttle_unauthenticated_api',
      'ratelimit-limit': '2',
      'ratelimit-observed': '1',
      'ratelimit-remaining': '1',
      'ratelimit-reset': String(endsAt),
    })
    expect((await call('/api/v4/no')).status).toBe(404)
    const third = await call('/api/v4/things')
    expect([third.status, third.text, third.headers.get('content-type')]).toEqual([429, 'Retry later\n', 'text/plain'])
    expect(Object.fromEntries(third.headers)).toMatchObject({
      'ratelimit-observed': '3',
      'ratelimit-remaining': '0',
      'ratelimit-resettime': 'Tue, 03 Feb 2026 04:06:00 GMT',
      'retry-after': '54',
    })
    world.clock.advance(53_211)
    expect((await call('/api/v4/things')).status).toBe(200)
  })

  test('apply to each user separately from the address', async () => {
    for (const observed of ['1', '2', '3']) {
      const { headers } = await call('/api/v4/things', { as: 'mira' }, { rateLimits })
      expect([
        headers.get('ratelimit-name'),
        headers.get('ratelimit-limit'),
        headers.get('ratelimit-observed'),
      ]).toEqual(['throttle_authenticated_api', '2', observed])
    }
    expect((await call('/api/v4/things', { as: 'mira' })).status).toBe(429)
    expect((await call('/api/v4/things')).status).toBe(200)
  })

  test('can be set for a single call', async () => {
    const create = () => call('/api/v4/things', { ...form('title=x'), as: 'mira' }, { rateLimits: 'off' })
    for (let made = 0; made < 3; made++) expect((await create()).status).toBe(201)
    const answer = await create()
    expect(answer.statusAndJson()).toEqual([
      429,
      { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
    ])
    // The seconds until the period ends at 05:00.
    expect(answer.headers.get('retry-after')).toBe('3294')
    expect(answer.headers.get('ratelimit-limit')).toBeNull()
    world.clock.advance(3_293_211)
    expect((await create()).status).toBe(201)
  })
})

test('extra routes report failures like the routes of the API', async () => {
  const extraRoutes: RestOptions['extraRoutes'] = [
    {
      method: 'GET',
      path: '/oauth/thing',
      body: undefined,
      admit: () => Promise.reject(new DomainError({ code: 'forbidden' })),
    },
  ]
  expect((await call('/oauth/thing', {}, { extraRoutes })).statusAndJson()).toEqual([403, { message: '403 Forbidden' }])
})
