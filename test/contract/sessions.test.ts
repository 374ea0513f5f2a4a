import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { OperationContext } from '../../packages/gateway/src/operations/operation-context.ts'
import { defaultManagementRules } from '../../packages/gateway/src/operations/operation-context.ts'
import { openPeppers } from '../../packages/gateway/src/secrets/open-peppers.ts'
import { purgeSessions } from '../../packages/gateway/src/sessions/session.ts'
import { createSignInCode } from '../../packages/gateway/src/sessions/sign-in-code.ts'
import { type Called, type CallOptions, IngestAuthWorld } from './ingest-auth-world.ts'

const HOUR = 3_600_000
const SESSION = '/api/v1/session'

let world: IngestAuthWorld
beforeEach(async () => {
  world = await IngestAuthWorld.open()
})
afterEach(() => world.close())

const refusal = ({ status, json }: Called) => [status, json?.error?.code]
const cookieOf = ({ headers }: Called) => String(headers['set-cookie']).split(';')[0]!

type Json = Readonly<Record<string, unknown>>
const post = (json: Json, headers: Record<string, string> = {}) =>
  world.call('POST', SESSION, { as: null, json, headers })

/** Signs in and returns a client that sends the cookie, and the CSRF token if asked for. */
async function signedIn(key = world.keys.Admin, headers: Record<string, string> = {}) {
  const answer = await post({ api_key: key }, headers)
  expect(answer.status).toBe(201)
  const cookie = cookieOf(answer)
  const call = (method: string, path: string, options: CallOptions = {}) =>
    world.call(method, path, { as: null, ...options, headers: { cookie, ...headers, ...options.headers } })
  const csrf = { 'x-penstock-csrf': String(answer.json.csrf_token) }
  return { answer, cookie, call, csrf, state: () => call('GET', '/state') }
}

async function newCode(keyId?: string): Promise<string> {
  const context: OperationContext = {
    db: world.db,
    peppers: await openPeppers(world.db, { dataDir: world.directory, randomBytes }),
    nowMs: () => world.clock.nowMs(),
    randomBytes,
    actor: { id: 'operator', name: 'command line', role: 'Admin' },
    source: undefined,
    requestId: undefined,
    rules: defaultManagementRules,
    propagate: async () => ({ instances: 1, applied: 1 }),
  }
  return await createSignInCode(context, keyId)
}

async function newKey(more: Json = {}): Promise<{ id: string; key: string }> {
  const { json } = await world.call('POST', '/api/v1/api_keys', { json: { name: 'mira', role: 'Editor', ...more } })
  return json
}

const auditedEvents = async (): Promise<string[]> =>
  (await world.call('GET', '/audit?limit=100')).json.map(({ event }: { event: string }) => event)

describe('a session', () => {
  test('is created with an API key, and shows role, name, CSRF token and expiry', async () => {
    const { answer, call } = await signedIn(world.keys.Editor)
    expect(answer.json).toEqual({
      role: 'Editor',
      key_name: 'editor',
      csrf_token: expect.stringMatching(/^[0-9a-f]{64}$/),
      expires_at: '2026-11-21T15:03:00Z',
      observe: { connected: false },
      // The listener of the tests accepts connections on every interface.
      ingest: { otlp_url: 'http://127.0.0.1:4318' },
      core: { url: 'http://core.example:8080' },
    })
    const shown = await call('GET', SESSION)
    expect([shown.status, shown.json]).toEqual([200, answer.json])
  })

  test('has a cookie that scripts and other sites cannot use; over HTTPS it is bound to the host', async () => {
    const { answer } = await signedIn()
    expect(answer.headers['set-cookie']).toMatch(
      /^penstock_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    const https = { 'x-forwarded-proto': 'https' }
    const secure = await signedIn(world.keys.Admin, https)
    expect(secure.answer.headers['set-cookie']).toMatch(
      /^__Host-penstock_session=[0-9A-Za-z]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    )
    expect((await secure.state()).status).toBe(200)
    // Another host of the domain can set only a cookie without the prefix, which is ignored over HTTPS.
    const plain = { cookie: secure.cookie.replace('__Host-', ''), ...https }
    expect(refusal(await world.call('GET', '/state', { as: null, headers: plain }))).toEqual([401, 'unauthenticated'])
  })

  test.each([
    ['https', true],
    ['HTTPS', true],
    ['https, http', true],
    ['http, https', false],
    ['http', false],
  ])('is bound to the host or not if the proxies report %s', async (reported, isSecure) => {
    const { answer, state } = await signedIn(world.keys.Admin, { 'x-forwarded-proto': reported })
    expect(String(answer.headers['set-cookie']).endsWith('; Secure')).toBe(isSecure)
    expect(answer.headers['strict-transport-security']).toBe(isSecure ? 'max-age=31536000' : undefined)
    expect((await state()).status).toBe(200)
  })

  test('is bound to the host if the configured address is HTTPS, whatever the proxy reports', async () => {
    await world.close()
    world = await IngestAuthWorld.open({}, 'https://console.example.test')
    for (const headers of [{}, { 'x-forwarded-proto': 'http' }]) {
      const { answer, state } = await signedIn(world.keys.Admin, headers)
      expect(answer.headers['set-cookie']).toMatch(/^__Host-penstock_session=.*; Secure$/)
      expect(answer.headers['strict-transport-security']).toBe('max-age=31536000')
      expect((await state()).status).toBe(200)
    }
  })

  test.each(['Viewer', 'Editor', 'Admin'] as const)('has the role %s of its key on every route', async (role) => {
    const { call, csrf } = await signedIn(world.keys[role])
    const changed = await call('POST', '/tokens', { json: { name: 'x' }, headers: csrf })
    expect(changed.status).toBe(role === 'Viewer' ? 403 : 201)
    expect((await call('GET', '/state')).status).toBe(200)
    expect((await call('GET', '/audit')).status).toBe(role === 'Admin' ? 200 : 403)
  })

  test('acts as its key in the audit log', async () => {
    const { call, csrf } = await signedIn(world.keys.Editor)
    await call('POST', '/tokens', { json: { name: 'x' }, headers: csrf })
    await call('DELETE', SESSION, { headers: csrf })
    const { json } = await world.call('GET', '/audit?limit=3')
    const actor = { id: world.keyIds.Editor, role: 'Editor' }
    expect(json).toMatchObject([
      { event: 'session.ended', actor, subject_id: json[2].subject_id },
      { event: 'token.created', actor },
      { event: 'session.created', actor, after: { by: 'api_key' }, source: '127.0.0.1' },
    ])
  })

  test('ends after 8 hours without use, and after 24 hours in any case', async () => {
    const idle = await signedIn()
    const used = await signedIn()
    for (let hours = 4; hours < 24; hours += 4) {
      await world.clock.advance(4 * HOUR)
      expect((await used.state()).status).toBe(200)
    }
    expect((await idle.state()).status).toBe(401)
    expect((await used.call('GET', SESSION)).json.expires_at).toBe('2026-11-22T07:03:00Z')
    await world.clock.advance(4 * HOUR - 1)
    expect((await used.state()).status).toBe(200)
    await world.clock.advance(1)
    expect((await used.state()).status).toBe(401)
    await purgeSessions(world.db, world.clock.nowMs())
    expect(await world.db.read.selectFrom('sessions').select('id').execute()).toEqual([])
  })

  test('ends at once when its key is revoked', async () => {
    const { id, key } = await newKey()
    const { state, call } = await signedIn(key)
    expect((await state()).status).toBe(200)
    expect((await world.call('DELETE', `/api/v1/api_keys/${id}`)).status).toBe(204)
    expect(refusal(await state())).toEqual([401, 'unauthenticated'])
    expect(refusal(await call('GET', SESSION))).toEqual([401, 'unauthenticated'])
    expect(await world.db.read.selectFrom('sessions').select('id').execute()).toEqual([])
  })

  test('ends at once when its key expires', async () => {
    const { key } = await newKey({ expires_at: '2026-11-21T08:03:00Z' })
    const { answer, state } = await signedIn(key)
    expect(answer.json.expires_at).toBe('2026-11-21T08:03:00Z')
    await world.clock.advance(HOUR - 1)
    expect((await state()).status).toBe(200)
    await world.clock.advance(1)
    expect((await state()).status).toBe(401)
  })

  test('ends when its user signs out', async () => {
    const { call, csrf, state } = await signedIn()
    const out = await call('DELETE', SESSION, { headers: csrf })
    expect([out.status, out.headers['set-cookie']]).toEqual([
      204,
      'penstock_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
    ])
    expect((await state()).status).toBe(401)
  })

  test('is one of at most 100 per key; a further one ends the one that was not used for longest', async () => {
    const first = await signedIn()
    const second = await signedIn()
    await world.clock.advance(120_000)
    await first.state()
    for (let count = 2; count <= 100; count += 1) {
      await world.clock.advance(1_000)
      await post({ api_key: world.keys.Admin })
    }
    expect([(await first.state()).status, (await second.state()).status]).toEqual([200, 401])
    expect(await world.db.read.selectFrom('sessions').select('id').execute()).toHaveLength(100)
  })

  test('is ignored by a request that also has an API key', async () => {
    const { call } = await signedIn()
    expect((await call('GET', '/state', { as: 'a-key-that-is-not-valid-at-all' })).status).toBe(401)
    const viewer = await call('POST', '/tokens', { as: 'Viewer', json: { name: 'x' } })
    expect(refusal(viewer)).toEqual([403, 'forbidden'])
  })
})

describe('security', () => {
  test('cross-site request forgery: a change needs the CSRF token of the same session', async () => {
    const { call, csrf } = await signedIn()
    const other = await signedIn()
    const create = (headers: Record<string, string>) => call('POST', '/tokens', { json: { name: 'x' }, headers })
    for (const headers of [{}, other.csrf, { 'x-penstock-csrf': '' }, { 'x-penstock-csrf': 'é' }]) {
      expect(refusal(await create(headers))).toEqual([403, 'csrf_token_required'])
    }
    expect(refusal(await call('DELETE', SESSION))).toEqual([403, 'csrf_token_required'])
    expect(refusal(await call('PUT', '/state', { json: { enabled: true } }))).toEqual([403, 'csrf_token_required'])
    expect((await create(csrf)).status).toBe(201)
    const { json } = await world.call('GET', '/audit?event=api.denied')
    expect(json[0]).toMatchObject({ actor: { id: world.keyIds.Admin }, after: { code: 'csrf_token_required' } })
  })

  test('login CSRF: forms and pages of other origins cannot sign a browser in', async () => {
    const json = { api_key: world.keys.Admin }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const form = { as: null, body: JSON.stringify(json), headers: { 'content-type': type } }
      expect(refusal(await world.call('POST', SESSION, form))).toEqual([415, 'unsupported_media_type'])
    }
    for (const site of ['cross-site', 'same-site']) {
      const answer = await post(json, { 'sec-fetch-site': site })
      expect(refusal(answer)).toEqual([403, 'forbidden'])
      expect(answer.headers['set-cookie']).toBeUndefined()
    }
    const preflight = await fetch(world.url + SESSION, {
      method: 'OPTIONS',
      headers: { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' },
    })
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([405, null])
    expect((await post(json, { 'sec-fetch-site': 'same-origin' })).status).toBe(201)
  })

  test('session fixation: signing in never adopts a cookie that the browser already has', async () => {
    const planted = `penstock_session=${'A'.repeat(43)}`
    const answer = await post({ api_key: world.keys.Admin }, { cookie: planted })
    expect(answer.status).toBe(201)
    expect(cookieOf(answer)).not.toBe(planted)
    expect((await world.call('GET', '/state', { as: null, headers: { cookie: planted } })).status).toBe(401)
    // The session of the previous user of this browser ends.
    const attacker = await signedIn(world.keys.Viewer)
    await post({ api_key: world.keys.Admin }, { cookie: attacker.cookie })
    expect((await attacker.state()).status).toBe(401)
    // A cookie that another port or path has added makes the cookies ambiguous, and none is used.
    const mine = await signedIn()
    const both = `${attacker.cookie}; ${mine.cookie}`
    expect((await world.call('GET', '/state', { as: null, headers: { cookie: both } })).status).toBe(401)
  })

  test('guessing: wrong keys, codes and cookies share the budget of wrong keys', async () => {
    const guesses = [
      () => post({ api_key: 'a-key-that-is-not-valid-at-all' }),
      () => post({ code: 'B'.repeat(43) }),
      () => world.call('GET', SESSION, { as: null, headers: { cookie: `penstock_session=${'B'.repeat(43)}` } }),
      () => world.call('GET', '/state', { as: null, headers: { cookie: `penstock_session=${'C'.repeat(43)}` } }),
    ]
    const statuses: number[] = []
    for (let guess = 0; guess < 24; guess += 1) statuses.push((await guesses[guess % 4]!()).status)
    // The console shows the sign-in form only if it learns that its session has ended, so wrong cookies are answered with 401.
    expect(statuses).toEqual([...Array(20).fill(401), 429, 429, 401, 401])
    expect((await auditedEvents()).filter((event) => event === 'api.denied')).toHaveLength(20)
    // A wrong cookie does not lift the limit from a wrong key.
    const cookie = `penstock_session=${'B'.repeat(43)}`
    const both = await world.call('GET', '/state', { as: 'a-key-that-is-not-valid-at-all', headers: { cookie } })
    expect(refusal(both)).toEqual([429, 'rate_limited'])
    // A browser without a cookie guesses nothing, and a valid key is never limited.
    expect((await world.call('GET', SESSION, { as: null })).status).toBe(401)
    expect((await post({ api_key: world.keys.Admin })).status).toBe(201)
  })

  test('the sign-ins of one key are limited, so that it cannot fill the audit log', async () => {
    const code = await newCode(world.keyIds.Viewer)
    let cookie = ''
    const again = async () => {
      const answer = await post({ api_key: world.keys.Viewer }, { cookie })
      if (answer.status === 201) cookie = cookieOf(answer)
      return answer
    }
    for (let count = 0; count < 60; count += 1) expect((await again()).status).toBe(201)
    const eventCount = async () => (await world.db.read.selectFrom('audit_events').select('id').execute()).length
    const before = await eventCount()
    const refused = await again()
    expect([...refusal(refused), refused.headers['retry-after']]).toEqual([429, 'rate_limited', '1'])
    expect((await post({ code })).status).toBe(429)
    expect(await eventCount()).toBe(before)
    // The last session continues, and other keys can sign in.
    expect((await world.call('GET', '/state', { as: null, headers: { cookie } })).status).toBe(200)
    expect((await post({ api_key: world.keys.Admin })).status).toBe(201)
    // The code that was refused is not used up.
    await world.clock.advance(1_000)
    expect((await post({ code })).status).toBe(201)
    expect((await again()).status).toBe(429)
  })

  test('guessing: a wrong code starts no write transaction beyond the budget of wrong keys', async () => {
    for (let guess = 0; guess < 20; guess += 1) await post({ code: 'B'.repeat(43) })
    const write = vi.spyOn(world.db, 'write')
    expect((await post({ code: 'B'.repeat(43) })).status).toBe(429)
    expect(write).not.toHaveBeenCalled()
  })

  test('secrets: the store, the log and the audit log contain neither cookie, CSRF token, code nor key', async () => {
    const { answer, cookie, call, csrf } = await signedIn()
    const code = await newCode()
    await post({ code: `${code}x` })
    await post({ api_key: world.keys.Admin, code })
    await post({ api_key: world.keys.Admin, extra: code })
    await post({ code })
    await call('POST', '/tokens', { json: { name: 'x' }, headers: csrf })
    const audit = JSON.stringify((await world.call('GET', '/audit?limit=100')).json)
    const secret = cookie.split('=')[1]!
    expect(secret).toHaveLength(43)
    for (const text of [secret, String(answer.json.csrf_token), code, world.keys.Admin]) {
      expect(world.fileBytes().filter((bytes) => bytes.includes(text))).toEqual([])
      expect(world.logLines.filter((line) => line.includes(text))).toEqual([])
      expect(audit).not.toContain(text)
    }
    expect(answer.text).not.toContain(secret)
  })
})

describe('a sign-in code', () => {
  test('signs in once, with the first Admin key', async () => {
    const code = await newCode()
    const answer = await post({ code })
    expect([answer.status, answer.json.role, answer.json.key_name]).toEqual([201, 'Admin', 'configured'])
    const again = await post({ code })
    expect(refusal(again)).toEqual([401, 'unauthenticated'])
    expect(again.json.error.message).toContain('penstock console link')
    expect(await auditedEvents()).toEqual(
      expect.arrayContaining(['session.created', 'sign_in_code.created', 'api.denied']),
    )
  })

  test('signs in only one of two browsers that use it at the same time', async () => {
    const code = await newCode()
    const statuses = (await Promise.all([post({ code }), post({ code })])).map(({ status }) => status)
    expect(statuses.sort()).toEqual([201, 401])
  })

  test('ends after ten minutes, and with its key', async () => {
    const [late, inTime] = [await newCode(), await newCode()]
    await world.clock.advance(600_000 - 1)
    expect((await post({ code: inTime })).status).toBe(201)
    await world.clock.advance(1)
    expect((await post({ code: late })).status).toBe(401)
    const { id } = await newKey()
    const revoked = await newCode(id)
    await world.call('DELETE', `/api/v1/api_keys/${id}`)
    expect((await post({ code: revoked })).status).toBe(401)
    await expect(newCode(id)).rejects.toMatchObject({ code: 'api_key_not_found' })
  })

  test('is one of at most 20 unused ones', async () => {
    const first = await newCode()
    await world.clock.advance(1)
    for (let count = 0; count < 20; count += 1) await newCode()
    expect((await post({ code: first })).status).toBe(401)
    expect(await world.db.read.selectFrom('sign_in_codes').select('key_id').execute()).toHaveLength(20)
  })
})

// It damages the file of an SQLite store.
test.skipIf(process.env.PENSTOCK_TEST_DATABASE_URL)(
  'every described answer of the session routes occurs, and no other',
  async () => {
    const { call, csrf } = await signedIn()
    await call('GET', SESSION)
    await call('DELETE', SESSION)
    await call('DELETE', SESSION, { headers: csrf })
    const json = { as: null, headers: { 'content-type': 'application/json' } }
    await world.call('POST', SESSION, { ...json, body: '{' })
    await world.call('POST', SESSION, { ...json, body: 'x'.repeat(70_000) })
    await world.call('POST', SESSION, { as: null, body: 'x', headers: { 'content-type': 'text/plain' } })
    for (const body of [{}, { api_key: 7 }, { api_key: 'x', code: 'y' }]) {
      expect(refusal(await post(body))).toEqual([400, 'invalid_field'])
    }
    expect(refusal(await post({ key: 'x' }))).toEqual([400, 'unknown_field'])
    await post({ api_key: world.keys.Admin }, { 'sec-fetch-site': 'cross-site' })
    const callWith = (method: string, secret: string) =>
      world.call(method, SESSION, { as: null, headers: { cookie: `penstock_session=${secret}` } })
    for (let guess = 0; guess < 24; guess += 1) await post({ api_key: 'wrong' })
    // Beyond the budget of wrong keys, only a cookie that no session can have is answered with 429.
    for (const method of ['GET', 'DELETE']) {
      for (const secret of ['B'.repeat(43), 'malformed']) await callWith(method, secret)
    }
    await world.damage('sessions')
    for (const method of ['GET', 'DELETE']) await callWith(method, 'B'.repeat(43))
    await world.damage('api_keys')
    await post({ api_key: world.keys.Admin })
    const unseen = world.check.documented.filter((answer) => !world.check.seen.has(answer) && !answer.endsWith(' 500'))
    expect(unseen.filter((answer) => answer.includes('Session'))).toEqual([])
  },
)
