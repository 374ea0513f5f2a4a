import { DomainError } from '@penstock/core'
import { describe, expect, test } from 'vitest'
import type { RestOptions } from './serve-rest.ts'
import { call, form, inRestWorld, json, world } from './things-server.harness.ts'

inRestWorld()

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

  test('shows browsers a page at an unknown path, with a link back, and clients and the API the error', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8'
    const page = await call('/ops/web/-/pipelines/1', { headers: { accept } })
    expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.text).toContain('<h1>Nothing at this address</h1>')
    expect(page.text).toContain(`<a href="${world.core.settings.externalUrl}/">`)
    for (const [path, headers] of [
      ['/ops/web/-/pipelines/1', { accept: '*/*' }],
      ['/ops/web/-/pipelines/1', { accept: 'application/json' }],
      ['/api/v4/no', { accept }],
      ['/api/no', { accept }],
    ] as const) {
      expect((await call(path, { headers })).statusAndJson()).toEqual([404, { error: '404 Not Found' }])
    }
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
