import type { ApplicationWithSecret } from '@penstock/core'
import { decodeJwt } from 'jose'
import { beforeEach, expect, test } from 'vitest'
import type { Shown } from './browser.harness.ts'
import { browser, HOME, mira, newApplication, server, withPages, world } from './pages.harness.ts'

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
const PAGE = '/oauth/device'

let app: ApplicationWithSecret

withPages()

beforeEach(async () => {
  const draft = { name: '<b>Client</b>', redirectUri: 'http://127.0.0.1/cb', scopes: 'openid api read_user sudo' }
  app = await newApplication({ ...draft, confidential: false })
})

async function post(path: string, fields: Record<string, string>) {
  const reply = await fetch(server.url + path, { method: 'POST', body: new URLSearchParams(fields) })
  return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Record<string, string> }
}
const start = async (fields: Record<string, string> = {}) =>
  (await post('/oauth/authorize_device', { client_id: app.uid, scope: 'openid read_user', ...fields })).body
const poll = (device_code: string, fields: Record<string, string> = {}) =>
  post('/oauth/token', { grant_type: GRANT, client_id: app.uid, device_code, ...fields })
const errorOf = async (device_code: string, fields?: Record<string, string>) => {
  const { status, body } = await poll(device_code, fields)
  return [status, body.error]
}

/** Enters a user code, and decides on the page that follows. */
async function decide(userCode: string, decision: 'allow' | 'deny'): Promise<Shown> {
  const consent = await browser.submit(await browser.get(PAGE), PAGE, { user_code: userCode })
  return consent.status === 200 ? browser.submit(consent, PAGE, { decision }) : consent
}

test('gives tokens once, after the user has entered the code and allowed the request', async () => {
  const { status, headers, body } = await post('/oauth/authorize_device', { client_id: app.uid, scope: 'openid sudo' })
  expect([status, headers.get('cache-control'), body]).toEqual([
    200,
    'no-store',
    {
      device_code: expect.stringMatching(/^[0-9a-f]{64}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{8}$/),
      verification_uri: `${HOME}${PAGE}`,
      verification_uri_complete: `${HOME}${PAGE}?user_code=${body.user_code}`,
      expires_in: 300,
      interval: 5,
    },
  ])
  const pending = await poll(body.device_code!)
  expect([pending.status, pending.body.error]).toEqual([400, 'authorization_pending'])
  expect(pending.headers.get('www-authenticate')).toBeNull()
  const path = `${PAGE}?user_code=${body.user_code}`
  const { location } = await browser.get(path)
  expect(location).toBe(`${HOME}/users/sign_in?${new URLSearchParams({ return_to: path })}`)
  await browser.signIn()
  const form = await browser.get(path)
  expect(form.text).toContain(`value="${body.user_code}"`)
  const typed = `${body.user_code!.slice(0, 4)}-${body.user_code!.slice(4)} `.toLowerCase()
  const consent = await browser.submit(form, PAGE, { user_code: typed })
  expect(consent.text).toContain('&#60;b&#62;Client')
  // Only administrators can give the scope `sudo`.
  expect([...consent.text.matchAll(/<li>(.*)<\/li>/g)].map(([, scope]) => scope)).toEqual(['openid'])
  expect((await browser.submit(consent, PAGE, { decision: 'allow' })).status).toBe(200)
  const tokens = await poll(body.device_code!)
  expect(tokens).toMatchObject({ status: 200, body: { scope: 'openid', refresh_token: expect.any(String) } })
  expect(decodeJwt(tokens.body.id_token!)).toMatchObject({ sub: String(mira.id), aud: app.uid })
  expect(await errorOf(body.device_code!)).toEqual([400, 'invalid_grant'])
})

test('tells a device that polls too often to slow down', async () => {
  const { device_code } = await start()
  const errors: unknown[] = []
  for (const waitMs of [0, 4_999, 9_999, 15_000]) {
    world.clock.advance(waitMs)
    errors.push((await errorOf(device_code!))[1])
  }
  expect(errors).toEqual(['authorization_pending', 'slow_down', 'slow_down', 'authorization_pending'])
})

test('tells a device that the user has denied the request, or that the code has expired', async () => {
  await browser.signIn()
  const denied = await start()
  expect((await decide(denied.user_code!, 'deny')).status).toBe(200)
  expect(await endOf(denied.device_code!)).toEqual([400, 'access_denied', null])
  const expired = await start()
  world.clock.advance(300_000)
  expect((await decide(expired.user_code!, 'allow')).status).toBe(422)
  expect(await endOf(expired.device_code!)).toEqual([400, 'expired_token', null])
})

/** Polls, and also returns the challenge, instead of which some clients do not show the error. */
async function endOf(deviceCode: string) {
  const { status, headers, body } = await poll(deviceCode)
  return [status, body.error, headers.get('www-authenticate')]
}

test('accepts a device code only from its application, and a user code only while it waits', async () => {
  await browser.signIn()
  const draft = { name: 'Other', redirectUri: 'http://127.0.0.1/cb', scopes: 'api', confidential: false }
  const other = await newApplication(draft)
  const { device_code, user_code } = await start()
  await decide(user_code!, 'allow')
  expect(await errorOf(device_code!, { client_id: other.uid })).toEqual([400, 'invalid_grant'])
  expect((await decide(user_code!, 'allow')).status).toBe(422)
  expect(await errorOf('no')).toEqual([400, 'invalid_grant'])
  expect((await poll(device_code!)).status).toBe(200)
})

test('gives nothing for a user who was blocked in the meantime', async () => {
  await browser.signIn()
  const { device_code, user_code } = await start()
  await decide(user_code!, 'allow')
  const blocked = { state: 'blocked' } as const
  await world.core.db.write((db) => db.updateTable('users').set(blocked).where('id', '=', mira.id).execute())
  expect(await errorOf(device_code!)).toEqual([400, 'invalid_grant'])
})

test('requires an application, its secret if it has one, and scopes of the application', async () => {
  const draft = { name: 'Confidential', redirectUri: 'http://127.0.0.1/cb', scopes: 'api' }
  const { uid, secret } = await newApplication(draft)
  expect(await start({ client_id: 'no' })).toMatchObject({ error: 'invalid_client' })
  expect(await start({ client_id: uid, scope: 'api' })).toMatchObject({ error: 'invalid_client' })
  expect(await start({ client_id: uid, client_secret: secret, scope: 'api' })).toHaveProperty('device_code')
  expect(await start({ scope: 'write_repository' })).toMatchObject({ error: 'invalid_scope' })
})

test('limits the requests of an address, and the codes that a user tries', async () => {
  const statuses = []
  for (let tries = 0; tries < 31; tries += 1) {
    statuses.push((await post('/oauth/authorize_device', { client_id: app.uid, scope: 'api' })).status)
  }
  expect(statuses).toEqual([...Array(30).fill(200), 429])
  await browser.signIn()
  const guesses: Shown[] = []
  for (let tries = 0; tries < 11; tries += 1) guesses.push(await decide('BBBBBBBB', 'allow'))
  expect(guesses.map(({ status }) => status)).toEqual([...Array(10).fill(422), 429])
  expect(Number(guesses.at(-1)!.headers.get('retry-after'))).toBeGreaterThan(0)
})

test('rejects the form for a device code without the CSRF token', async () => {
  await browser.signIn()
  const { user_code } = await start()
  expect((await browser.post(PAGE, { user_code: user_code!, decision: 'allow' })).status).toBe(403)
})
