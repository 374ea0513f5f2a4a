import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findApiKey, insertApiKey } from '../../packages/gateway/src/accounts/api-key-store.ts'
import { type Called, IngestAuthWorld } from './ingest-auth-world.ts'

let world: IngestAuthWorld
beforeEach(async () => {
  world = await IngestAuthWorld.open()
})
afterEach(() => world.close())

const refusal = ({ status, json }: Called) => [status, json?.error?.code]
const callWithUnknownKey = () => world.call('GET', '/state', { as: 'psak_unknown_key' })

test('sends Strict-Transport-Security behind a proxy with HTTPS', async () => {
  const header = async (headers: Record<string, string>, path = '/state') =>
    (await world.call('GET', path, { headers })).headers['strict-transport-security']
  expect(await header({ 'x-forwarded-proto': 'https' })).toBe('max-age=31536000')
  expect(await header({ 'x-forwarded-proto': 'https' }, '/nothing')).toBe('max-age=31536000')
  expect(await header({ 'x-forwarded-proto': 'http' })).toBeUndefined()
  expect(await header({})).toBeUndefined()
})

describe('API keys', () => {
  test('are created by an Admin, shown once, and have the permissions of their role', async () => {
    const { status, json } = await world.call('POST', '/api/v1/api_keys', { json: { name: 'grafana', role: 'Viewer' } })
    expect(status).toBe(201)
    expect(json).toEqual({
      id: json.id,
      name: 'grafana',
      role: 'Viewer',
      key: expect.stringMatching(/^psak_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/),
      created_at: '2026-11-21T07:03:00Z',
      created_by: world.keyIds.Admin,
      expires_at: null,
      last_used_at: null,
    })
    expect((await world.call('GET', '/state', { as: json.key })).status).toBe(200)
    expect((await world.call('POST', '/tokens', { as: json.key, json: { name: 'x' } })).status).toBe(403)
    const list = await world.call('GET', '/api/v1/api_keys')
    expect(list.json.map(({ name }: { name: string }) => name)).toEqual(['grafana', 'viewer', 'editor', 'configured'])
    expect(list.text).not.toContain('psak_')
  })

  test('are rejected after they have expired or were revoked', async () => {
    const make = async (more: object) =>
      (await world.call('POST', '/api/v1/api_keys', { json: { name: 'bot', role: 'Editor', ...more } })).json
    const ending = await make({ expires_at: '2026-11-21T08:03:00Z' })
    const revoked = await make({})
    expect((await world.call('DELETE', `/api/v1/api_keys/${revoked.id}`)).status).toBe(204)
    expect((await world.call('GET', '/state', { as: revoked.key })).status).toBe(401)
    await world.clock.advance(3_599_999)
    expect((await world.call('GET', '/state', { as: ending.key })).status).toBe(200)
    await world.clock.advance(1)
    expect((await world.call('GET', '/state', { as: ending.key })).status).toBe(401)
  })

  test('the last Admin key cannot be revoked', async () => {
    const path = `/api/v1/api_keys/${world.keyIds.Admin}`
    expect(refusal(await world.call('DELETE', path))).toEqual([409, 'last_admin_key'])
    await world.call('POST', '/api/v1/api_keys', { json: { name: 'second', role: 'Admin' } })
    expect((await world.call('DELETE', path)).status).toBe(204)
    expect((await world.call('GET', '/state')).status).toBe(401)
  })

  test('are limited to 1,000', async () => {
    await world.db.write(async (tx) => {
      const { position: _position, ...row } = (await findApiKey(tx, world.keyIds.Viewer))!
      for (let index = 3; index < 1_000; index += 1) {
        await insertApiKey(tx, { ...row, id: `key-${index}`, mac: randomBytes(32) })
      }
    })
    const json = { name: 'one more', role: 'Viewer' }
    const answer = await world.call('POST', '/api/v1/api_keys', { json })
    expect(refusal(answer)).toEqual([409, 'api_key_limit_reached'])
    expect(answer.json.error.details).toEqual({ limit: 1_000 })
    await world.call('DELETE', '/api/v1/api_keys/key-3')
    expect((await world.call('POST', '/api/v1/api_keys', { json })).status).toBe(201)
  })

  test('answers 404 for an unknown id', async () => {
    expect(refusal(await world.call('DELETE', '/api/v1/api_keys/no-such-id00'))).toEqual([404, 'api_key_not_found'])
  })
})

describe('callers without a valid key', () => {
  test('get a challenge', async () => {
    const { headers, json } = await world.call('GET', '/state', { as: null, headers: { 'x-request-id': 'r-1' } })
    expect(headers['www-authenticate']).toBe('ApiKey realm="observability"')
    expect(json).toEqual({
      error: {
        code: 'unauthenticated',
        message: 'Send one valid API key in the header OBS-API-KEY.',
        details: null,
        request_id: 'r-1',
      },
    })
  })

  test('T-18: are rejected if they send an ingest token', async () => {
    const { token } = await world.createToken()
    expect(refusal(await world.call('GET', '/state', { as: token }))).toEqual([401, 'unauthenticated'])
  })

  test('get 429 after too many attempts; a valid key from the same address does not', async () => {
    const statuses: number[] = []
    for (let guess = 0; guess < 25; guess += 1) statuses.push((await callWithUnknownKey()).status)
    expect(statuses).toEqual([...Array(20).fill(401), ...Array(5).fill(429)])
    const waiting = await callWithUnknownKey()
    expect([...refusal(waiting), waiting.headers['retry-after']]).toEqual([429, 'rate_limited', '3'])
    for (let call = 0; call < 5; call += 1) expect((await world.call('GET', '/state')).status).toBe(200)
    await world.clock.advance(3_000)
    expect([(await callWithUnknownKey()).status, (await callWithUnknownKey()).status]).toEqual([401, 429])
    const { json } = await world.call('GET', '/audit?event=api.denied&limit=100')
    expect(json).toHaveLength(21)
  })
})

describe('unknown calls', () => {
  test.each(['/nowhere', '/api/v1/ingest_auth', '/api/v1/ingest_auth/tokens/a/b', '/api/v1/ingest_auth//tokens'])(
    'answers 404 for %s',
    async (path) => {
      const answer = await world.call('GET', path.startsWith('/api') ? path : `/api${path}`)
      expect(refusal(answer)).toEqual([404, 'not_found'])
    },
  )

  test('lists the allowed methods for other methods', async () => {
    const allowed = async (method: string, path: string) => (await world.call(method, path)).headers.allow
    expect(await allowed('PUT', '/tokens')).toBe('GET, HEAD, POST')
    expect(await allowed('POST', '/state')).toBe('GET, HEAD, PUT')
    expect(await allowed('GET', '/tokens/x/rotate')).toBe('POST')
    expect(await allowed('OPTIONS', '/tokens/x')).toBe('DELETE, GET, HEAD, PATCH')
  })
})

describe('failures', () => {
  test('answers 503 with Retry-After to every call if the store fails, and never 401', async () => {
    await world.damage('ingest_tokens')
    for (const [method, path, json] of [
      ['GET', '/tokens'],
      ['POST', '/tokens', { name: 'x' }],
      ['GET', '/state'],
    ] as const) {
      const answer = await world.call(method, path, { json })
      expect([...refusal(answer), answer.headers['retry-after']]).toEqual([503, 'store_unavailable', '2'])
      expect(answer.text).not.toMatch(/sqlite|table|select|insert/i)
    }
    await world.damage('api_keys')
    expect(refusal(await world.call('GET', '/state'))).toEqual([503, 'store_unavailable'])
    expect(world.logLines.every((line) => JSON.parse(line).event === 'http.request_failed')).toBe(true)
  })

  test('sends the error even if it cannot be written to the audit log', async () => {
    await world.db.write((tx) => tx.schema.alterTable('audit_events').renameTo('lost').execute())
    expect((await world.call('GET', '/audit', { as: 'Viewer' })).status).toBe(403)
    expect(world.logLines.map((line) => JSON.parse(line).event)).toEqual(['audit.failed'])
  })

  test('answers 500 to an unexpected error, and writes its message only to the log', async () => {
    world.failReadiness = new TypeError('x is not a function')
    const answer = await world.call('GET', '/readiness')
    expect(refusal(answer)).toEqual([500, 'internal'])
    expect(answer.text).not.toContain('not a function')
    expect(world.logLines.join()).toContain('x is not a function')
  })
})
