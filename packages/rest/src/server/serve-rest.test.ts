import { describe, expect, test } from 'vitest'
import type { RestOptions } from './serve-rest.ts'
import { call, form, inRestWorld, json, mira, world } from './things-server.harness.ts'

inRestWorld()

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
      vary: 'Origin, Accept-Encoding',
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
