import { type ApplicationWithSecret, rotateSigningKey } from '@penstock/core'
import { WORLD_BEGINS_MS } from '@penstock/testkit'
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import { beforeEach, expect, test } from 'vitest'
import type { Shown } from './browser.harness.ts'
import { browser, HOME, mira, newApplication, server, withPages, world } from './pages.harness.ts'

const CALLBACK = 'https://board.example.test/cb'
const BEGIN_SECONDS = Math.floor(WORLD_BEGINS_MS / 1_000)

let board: ApplicationWithSecret

withPages()

beforeEach(async () => {
  const application = { name: 'Board', redirectUri: CALLBACK, scopes: 'openid profile email api' }
  board = await newApplication(application)
})

const authorizePath = (more: Record<string, string> = {}) =>
  `/oauth/authorize?${new URLSearchParams({
    client_id: board.uid,
    redirect_uri: CALLBACK,
    response_type: 'code',
    scope: 'openid email',
    state: 'a7',
    ...more,
  })}`

async function tokensFor(parameters: Record<string, string>): Promise<Record<string, string>> {
  const client = { client_id: board.uid, client_secret: board.secret }
  const body = new URLSearchParams({ ...client, ...parameters })
  const reply = await fetch(`${server.url}/oauth/token`, { method: 'POST', body })
  expect(reply.status).toBe(200)
  return (await reply.json()) as Record<string, string>
}

/** Allows the request on its page, and exchanges the code. */
async function consent(page: Shown): Promise<Record<string, string>> {
  const { location } = await browser.submit(page, '/oauth/authorize', { decision: 'allow' })
  const code = new URL(location!).searchParams.get('code')!
  return tokensFor({ grant_type: 'authorization_code', code, redirect_uri: CALLBACK })
}

// biome-ignore lint/suspicious/noExplicitAny: the answers have many forms
const json = async (path: string, headers: Record<string, string> = {}): Promise<any> =>
  (await fetch(server.url + path, { headers })).json()

/** Verifies an ID token as a client does, with the published keys. */
async function verify(idToken: string): Promise<JWTPayload> {
  const keys = createRemoteJWKSet(new URL(`${server.url}/oauth/discovery/keys`))
  const currentDate = new Date(world.clock.nowMs())
  const { payload } = await jwtVerify(idToken, keys, { issuer: HOME, audience: board.uid, currentDate })
  return payload
}

test('publishes a key before the first token is signed, and the same one to concurrent callers', async () => {
  const all = await Promise.all([1, 2, 3].map(() => json('/oauth/discovery/keys')))
  expect(all[0].keys).toHaveLength(1)
  expect(all).toEqual([all[0], all[0], all[0]])
})

test('describes its endpoints and keys', async () => {
  const metadata = await json('/.well-known/openid-configuration')
  expect(metadata).toMatchObject({
    issuer: HOME,
    authorization_endpoint: `${HOME}/oauth/authorize`,
    token_endpoint: `${HOME}/oauth/token`,
    userinfo_endpoint: `${HOME}/oauth/userinfo`,
    jwks_uri: `${HOME}/oauth/discovery/keys`,
    id_token_signing_alg_values_supported: ['RS256'],
    subject_types_supported: ['public'],
    response_types_supported: ['code'],
    scopes_supported: expect.arrayContaining(['openid', 'profile', 'email']),
    claims_supported: expect.arrayContaining(['sub', 'iss', 'email', 'groups', 'groups_direct']),
  })
  expect(await json('/.well-known/oauth-authorization-server')).toEqual(metadata)
  await rotateSigningKey(world.core)
  const { keys } = await json('/oauth/discovery/keys')
  expect(keys).toEqual([
    {
      kty: 'RSA',
      kid: expect.any(String),
      use: 'sig',
      alg: 'RS256',
      e: 'AQAB',
      n: expect.stringMatching(/^[\w-]{342}$/),
    },
  ])
})

test('issues an ID token with a code, and with each refresh of its token', async () => {
  const group = await world.group('ops')
  await world.member(group, mira, 30)
  await world.group('elsewhere')
  await browser.signIn()
  world.clock.advance(60_000)
  const tokens = await consent(await browser.get(authorizePath({ nonce: 'n-0S6' })))
  const claims = {
    iss: HOME,
    aud: board.uid,
    sub: String(mira.id),
    email: 'mira@example.test',
    email_verified: true,
    auth_time: BEGIN_SECONDS,
    groups_direct: ['ops'],
    iat: BEGIN_SECONDS + 60,
    exp: BEGIN_SECONDS + 180,
  }
  expect(await verify(tokens.id_token!)).toEqual({ ...claims, nonce: 'n-0S6' })
  world.clock.advance(60_000)
  const again = await tokensFor({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token! })
  expect(await verify(again.id_token!)).toEqual({ ...claims, iat: claims.iat + 60, exp: claims.exp + 60 })
})

test('issues no ID token without the scope openid, or without a user', async () => {
  await browser.signIn()
  expect(await consent(await browser.get(authorizePath({ scope: 'api email' })))).not.toHaveProperty('id_token')
  expect(await tokensFor({ grant_type: 'client_credentials', scope: 'openid' })).not.toHaveProperty('id_token')
})

test('publishes a replaced key for a day', async () => {
  await browser.signIn()
  const { id_token } = await consent(await browser.get(authorizePath()))
  const kids = async () => (await json('/oauth/discovery/keys')).keys.map(({ kid }: { kid: string }) => kid)
  const [former] = await kids()
  const kid = await rotateSigningKey(world.core)
  expect(await kids()).toEqual([kid, former])
  expect(await verify(id_token!)).toMatchObject({ sub: String(mira.id) })
  expect((await verify((await consent(await browser.get(authorizePath()))).id_token!)).sub).toBe(String(mira.id))
  world.clock.advance(86_400_000)
  expect(await kids()).toEqual([kid])
  const rows = await world.core.db.read.selectFrom('oauth_signing_keys').select('sealed_private_jwk').execute()
  for (const { sealed_private_jwk } of rows) expect(sealed_private_jwk).toMatch(/^v1\./)
})

test('two processes that need the first key use the same one', async () => {
  await browser.signIn()
  const pages = [await browser.get(authorizePath()), await browser.get(authorizePath())]
  await Promise.all(pages.map(consent))
  expect((await json('/oauth/discovery/keys')).keys).toHaveLength(1)
})

test('shows the groups of the user at the userinfo endpoint', async () => {
  const ops = await world.group('ops')
  const home = await world.group('home', { parent: ops })
  await world.member(ops, mira, 50)
  await browser.signIn()
  const { access_token } = await consent(await browser.get(authorizePath({ scope: 'openid profile' })))
  expect(await json('/oauth/userinfo', { authorization: `Bearer ${access_token}` })).toEqual({
    sub: String(mira.id),
    name: 'Mira Holt',
    nickname: 'mira',
    preferred_username: 'mira',
    profile: `${HOME}/mira`,
    groups: ['ops', home.fullPath],
    'https://gitlab.org/claims/groups/owner': ['ops'],
  })
})

test('answers a silent request without a page', async () => {
  const silent = async (prompt: string) =>
    new URL((await browser.get(authorizePath({ prompt }))).location!).searchParams.get('error')
  expect(await silent('none')).toBe('login_required')
  await browser.signIn()
  expect(await silent('none')).toBe('consent_required')
})

test('asks for a new sign-in if the request wants one, or the sign-in is too old', async () => {
  await browser.signIn()
  world.clock.advance(61_000)
  expect((await browser.get(authorizePath({ max_age: '61' }))).status).toBe(200)
  for (const wish of [{ max_age: '60' }, { prompt: 'login' }]) {
    const { location } = await browser.get(authorizePath(wish))
    const path = location!.replace(HOME, '')
    expect(path).toMatch(/^\/users\/sign_in\?return_to=.*&again=1$/)
    const form = await browser.get(path)
    expect(form.status).toBe(200)
    const { location: back } = await browser.submit(form, '/users/sign_in', {
      login: 'mira',
      password: 'correct horse 1',
    })
    const tokens = await consent(await browser.get(back!.replace(HOME, '')))
    expect((await verify(tokens.id_token!)).auth_time).toBe(BEGIN_SECONDS + 61)
  }
})

test('names the issuer of accounts and URLs on this host', async () => {
  const find = async (query: Record<string, string>) =>
    fetch(`${server.url}/.well-known/webfinger?${new URLSearchParams(query)}`)
  const host = new URL(HOME).host
  const rel = 'http://openid.net/specs/connect/1.0/issuer'
  for (const resource of [`acct:mira@${host}`, `acct:missing@${host}`, `${HOME}/mira`]) {
    const reply = await find({ resource })
    expect(reply.status).toBe(200)
    expect(reply.headers.get('content-type')).toContain('application/jrd+json')
    expect(await reply.json()).toEqual({ subject: resource, links: [{ rel, href: HOME }] })
  }
  expect(await (await find({ resource: `acct:mira@${host}`, rel: 'avatar' })).json()).toMatchObject({ links: [] })
  expect((await find({ resource: 'acct:mira@other.example.test' })).status).toBe(404)
  for (const wrong of [{}, { resource: 'mira' }, { resource: 'acct:mira' }])
    expect((await find(wrong)).status).toBe(400)
})
