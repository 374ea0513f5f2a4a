import {
  type ApplicationWithSecret,
  allowAuthorization,
  checkAuthorization,
  createApplication,
  createUser,
  getUser,
  type User,
} from '@penstock/core'
import { type Listening, listen, serveRoutes } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { WORLD_BEGINS_MS, World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { renderError } from '../routing/error-response.ts'
import { oauthRoutes } from './oauth.ts'

const CALLBACK = 'https://board.example.test/cb'
const SECRET = expect.stringMatching(/^[0-9a-f]{64}$/)
const CREATED_AT = Math.floor(WORLD_BEGINS_MS / 1_000)

let world: World
let server: Listening
let mira: User
let board: ApplicationWithSecret

beforeEach(async () => {
  world = await World.open()
  const handler = serveRoutes(oauthRoutes(world.core), { renderError, headers: {}, log: silentLog })
  server = await listen(handler, { host: '127.0.0.1', port: 0 })
  const root = await world.user('root', { isAdministrator: true })
  const person = { username: 'mira', name: 'Mira Holt', email: 'mira@example.test', password: 'correct horse 1' }
  const { user } = await world.perform(root, createUser, person)
  mira = await getUser({ db: world.core.db.read, nowMs: WORLD_BEGINS_MS }, user.id)
  const application = { name: 'Deploy board', redirectUri: CALLBACK, scopes: 'api read_user' }
  board = await world.perform(root, createApplication, application)
})

afterEach(async () => {
  await server.close()
  await world.close()
})

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

async function send(path: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(server.url + path, init)
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const post = (path: string, fields: Record<string, string>, headers: Record<string, string> = {}) =>
  send(path, { method: 'POST', body: new URLSearchParams(fields), headers })
const credentials = () => ({ client_id: board.uid, client_secret: board.secret })
const basic = (id: string, secret: string) => ({ Authorization: `Basic ${btoa(`${id}:${secret}`)}` })
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })

async function newCode(): Promise<string> {
  const checked = await checkAuthorization(world.core, {
    clientId: board.uid,
    redirectUri: CALLBACK,
    responseType: 'code',
    scope: 'api read_user',
  })
  if (checked.kind === 'refused') throw checked.refusal
  return allowAuthorization(world.core, mira.id, checked.authorization)
}

interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
}

async function newTokens(): Promise<Tokens> {
  const { body } = await post('/oauth/token', {
    ...{ grant_type: 'authorization_code', code: await newCode(), redirect_uri: CALLBACK },
    ...credentials(),
  })
  return body as Tokens
}

describe('POST /oauth/token', () => {
  const forCode = async () => ({
    grant_type: 'authorization_code',
    code: await newCode(),
    redirect_uri: CALLBACK,
  })
  const issued = {
    access_token: SECRET,
    token_type: 'Bearer',
    expires_in: 7_200,
    refresh_token: SECRET,
    scope: 'api read_user',
    created_at: CREATED_AT,
  }

  test('issues a pair of tokens for a code, with Cache-Control no-store', async () => {
    const { status, headers, body } = await post('/oauth/token', { ...(await forCode()), ...credentials() })
    expect([status, body]).toEqual([200, issued])
    expect(headers.get('cache-control')).toBe('no-store')
  })

  test('accepts HTTP Basic for the client, and JSON parameters', async () => {
    const { status, body } = await send('/oauth/token', {
      method: 'POST',
      headers: { ...basic(board.uid, board.secret), 'Content-Type': 'application/json' },
      body: JSON.stringify(await forCode()),
    })
    expect([status, body]).toEqual([200, issued])
  })

  test('issues another pair of tokens for a refresh token', async () => {
    const { refresh_token } = await newTokens()
    const parameters = { grant_type: 'refresh_token', refresh_token, redirect_uri: CALLBACK, ...credentials() }
    const { status, body } = await post('/oauth/token', parameters)
    expect([status, body]).toEqual([200, issued])
    expect(body).not.toMatchObject({ refresh_token })
  })

  test('issues a pair of tokens for a password, and only an access token for client_credentials', async () => {
    const byPassword = { grant_type: 'password', username: 'mira', password: 'correct horse 1' }
    expect((await post('/oauth/token', byPassword)).body).toEqual({ ...issued, scope: 'api' })
    const { refresh_token: _, ...alone } = issued
    const forItself = { grant_type: 'client_credentials', scope: 'read_user', ...credentials() }
    expect((await post('/oauth/token', forItself)).body).toEqual({ ...alone, scope: 'read_user' })
  })

  const invalidGrant =
    'The provided authorization grant is invalid, expired, revoked, does not match the redirection URI used in the authorization request, or was issued to another client.'
  const invalidClient =
    'Client authentication failed due to unknown client, no client authentication included, or unsupported authentication method.'
  const invalidScope = 'The requested scope is invalid, unknown, or malformed.'
  const malformed =
    'The request is missing a required parameter, includes an unsupported parameter value, or is otherwise malformed.'
  const client = 'client' as const

  test.each([
    [
      { grant_type: 'authorization_code', code: 'no', redirect_uri: CALLBACK, client },
      400,
      'invalid_grant',
      invalidGrant,
    ],
    [{ grant_type: 'refresh_token', refresh_token: 'no', client }, 400, 'invalid_grant', invalidGrant],
    [{ grant_type: 'password', username: 'mira', password: 'no' }, 400, 'invalid_grant', invalidGrant],
    [{ grant_type: 'password', username: 'unknown', password: 'no' }, 400, 'invalid_grant', invalidGrant],
    [{ grant_type: 'authorization_code', code: 'no' }, 401, 'invalid_client', invalidClient],
    [{ grant_type: 'client_credentials', client_id: 'no', client_secret: 'no' }, 401, 'invalid_client', invalidClient],
    [
      { grant_type: 'implicit', client },
      400,
      'unsupported_grant_type',
      'The authorization grant type is not supported by the authorization server.',
    ],
    [{ grant_type: 'toString' }, 400, 'unsupported_grant_type', undefined],
    [{ client }, 400, 'invalid_request', 'Missing required parameter: grant_type.'],
    [{ grant_type: '' }, 400, 'invalid_request', 'Missing required parameter: grant_type.'],
    [
      { grant_type: 'authorization_code', code: 'no', client },
      400,
      'invalid_request',
      'Missing required parameter: redirect_uri.',
    ],
    [{ grant_type: 'client_credentials', scope: 'sudo', client }, 400, 'invalid_scope', invalidScope],
    [{ grant_type: 'client_credentials', scope: 'nothing', client }, 400, 'invalid_scope', invalidScope],
    [{ grant_type: 'password', username: 'mi\0ra', password: 'no' }, 400, 'invalid_request', malformed],
  ])('%j: %i %s', async ({ client: withClient, ...fields }: Record<string, string>, status, error, description) => {
    const answer = await post('/oauth/token', { ...fields, ...(withClient && credentials()) })
    const error_description = description ?? expect.any(String)
    expect([answer.status, answer.body]).toEqual([status, { error, error_description }])
    if (description === undefined) return
    expect(answer.headers.get('www-authenticate')).toBe(
      `Bearer realm="Doorkeeper", error="${error}", error_description="${description}"`,
    )
  })

  test('rejects a wrong secret in the parameters or in Basic, and malformed Basic', async () => {
    const fields = { grant_type: 'client_credentials' }
    const answers = [
      await post('/oauth/token', { ...fields, client_id: board.uid, client_secret: 'no' }),
      await post('/oauth/token', { ...fields, client_id: board.uid }),
      await post('/oauth/token', fields, basic(board.uid, 'no')),
      await post('/oauth/token', fields, basic('%E0%A4%A', board.secret)),
    ]
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401])
  })

  test('rejects a parameter that is repeated or not text, and ignores the query', async () => {
    const twice = await send('/oauth/token', {
      method: 'POST',
      body: new URLSearchParams([
        ['grant_type', 'password'],
        ['grant_type', 'refresh_token'],
      ]),
    })
    expect(twice.body).toMatchObject({ error: 'invalid_request' })
    const json = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"grant_type":["password"]}',
    }
    expect((await send('/oauth/token', json)).body).toMatchObject({ error: 'invalid_request' })
    const inQuery = await send(`/oauth/token?${new URLSearchParams({ ...(await forCode()), ...credentials() })}`, {
      method: 'POST',
    })
    expect(inQuery.body).toMatchObject({ error_description: 'Missing required parameter: grant_type.' })
  })

  test('answers 429 with Retry-After after too many wrong passwords, even to the right one', async () => {
    const fields = { grant_type: 'password', username: 'mira', password: 'no' }
    for (let count = 0; count < 10; count += 1) await post('/oauth/token', fields)
    const { status, headers, body } = await post('/oauth/token', { ...fields, password: 'correct horse 1' })
    expect([status, headers.get('retry-after'), body]).toEqual([
      429,
      '600',
      { message: { error: 'This endpoint has been requested too many times. Try again later.' } },
    ])
  })
})

describe('POST /oauth/revoke', () => {
  test('revokes a token, and sends the same response for an unknown one', async () => {
    const { access_token, refresh_token } = await newTokens()
    const { status, body } = await post('/oauth/revoke', { token: access_token, ...credentials() })
    expect([status, body]).toEqual([200, {}])
    const info = await send('/oauth/token/info', { headers: bearer(access_token) })
    expect(info.body).toEqual({ error: 'invalid_token', error_description: 'The access token was revoked' })
    const again = await post('/oauth/token', { grant_type: 'refresh_token', refresh_token, ...credentials() })
    expect(again.body).toMatchObject({ error: 'invalid_grant' })
    expect(await post('/oauth/revoke', { token: 'unknown', ...credentials() })).toMatchObject({ status: 200, body: {} })
  })

  test('answers 403 to a wrong client', async () => {
    const { access_token: token } = await newTokens()
    for (const client of [{}, { client_id: board.uid, client_secret: 'no' }]) {
      const { status, body } = await post('/oauth/revoke', { token, ...client })
      expect([status, body]).toMatchObject([403, { error: 'unauthorized_client' }])
    }
    expect((await send('/oauth/token/info', { headers: bearer(token) })).status).toBe(200)
    const without = await post('/oauth/revoke', credentials())
    expect(without.body).toMatchObject({ error_description: 'Missing required parameter: token.' })
  })

  test('revokes a token that was issued without a client without one', async () => {
    const byPassword = { grant_type: 'password', username: 'mira', password: 'correct horse 1' }
    const { access_token: token } = (await post('/oauth/token', byPassword)).body as Tokens
    expect((await post('/oauth/revoke', { token })).status).toBe(200)
    expect((await send('/oauth/token/info', { headers: bearer(token) })).status).toBe(401)
  })
})

describe('GET /oauth/token/info', () => {
  test('returns the data of the token that authenticates the request', async () => {
    const { access_token } = await newTokens()
    await world.clock.advance(1_080_000)
    const expected = {
      resource_owner_id: mira.id,
      scope: ['api', 'read_user'],
      expires_in: 6_120,
      application: { uid: board.uid },
      created_at: CREATED_AT,
      scopes: ['api', 'read_user'],
      expires_in_seconds: 6_120,
    }
    expect((await send('/oauth/token/info', { headers: bearer(access_token) })).body).toEqual(expected)
    expect((await send(`/oauth/token/info?access_token=${access_token}`)).body).toEqual(expected)
  })

  test('rejects a token that is expired, missing or sent twice', async () => {
    const { access_token } = await newTokens()
    const both = await send(`/oauth/token/info?access_token=${access_token}`, { headers: bearer(access_token) })
    expect([both.status, both.body]).toEqual([
      400,
      {
        error: 'invalid_request',
        error_description: 'Both Authorization header and payload includes access token.',
      },
    ])
    await world.clock.advance(7_200_000)
    const [expired, unknown] = [
      await send('/oauth/token/info', { headers: bearer(access_token) }),
      await send('/oauth/token/info'),
    ]
    expect([expired.status, expired.body]).toEqual([
      401,
      { error: 'invalid_token', error_description: 'The access token expired' },
    ])
    expect(unknown.body).toEqual({ error: 'invalid_token', error_description: 'The access token is invalid' })
  })
})

describe('POST /oauth/introspect', () => {
  test('returns the data of a token to its application', async () => {
    const { access_token: token, refresh_token } = await newTokens()
    const answer = {
      active: true,
      scope: 'api read_user',
      client_id: board.uid,
      token_type: 'Bearer',
      exp: CREATED_AT + 7_200,
      iat: CREATED_AT,
    }
    expect((await post('/oauth/introspect', { token, ...credentials() })).body).toEqual(answer)
    expect((await post('/oauth/introspect', { token }, basic(board.uid, board.secret))).body).toEqual(answer)
    expect((await post('/oauth/introspect', { token }, bearer(token))).body).toEqual(answer)
    const { exp: _, ...endless } = answer
    expect((await post('/oauth/introspect', { token: refresh_token, ...credentials() })).body).toEqual(endless)
  })

  test('reports expired and unknown tokens as inactive, and rejects unknown clients', async () => {
    const { access_token: token } = await newTokens()
    for (const client of [{}, { client_id: board.uid }, { client_id: board.uid, client_secret: 'no' }]) {
      const { status, body } = await post('/oauth/introspect', { token, ...client })
      expect([status, body]).toMatchObject([401, { error: 'invalid_client' }])
    }
    await world.clock.advance(7_200_000)
    for (const ended of [token, 'unknown']) {
      const { status, body } = await post('/oauth/introspect', { token: ended, ...credentials() })
      expect([status, body]).toEqual([200, { active: false }])
    }
  })
})

describe('/oauth/userinfo', () => {
  const userinfo = (token: string, init: RequestInit = {}) =>
    send('/oauth/userinfo', { ...init, headers: bearer(token) })
  const tokenOf = async (scope: string) => {
    const fields = { grant_type: 'password', username: 'mira', password: 'correct horse 1', scope }
    return ((await post('/oauth/token', fields)).body as Tokens).access_token
  }
  const openid = {
    sub: expect.stringMatching(/^\d+$/),
    name: 'Mira Holt',
    nickname: 'mira',
    preferred_username: 'mira',
    profile: 'https://svc.example.test/mira',
    groups: [],
  }
  const { groups: _, ...withoutGroups } = openid
  const address = { email: 'mira@example.test', email_verified: true }

  test.each([
    ['openid', openid],
    ['openid email', { ...openid, ...address }],
    ['email', { sub: openid.sub, ...address }],
    ['profile', withoutGroups],
  ])('returns the claims for the scopes %s', async (scope, expected) => {
    const token = await tokenOf(scope)
    for (const init of [{}, { method: 'POST' }]) {
      const { status, headers, body } = await userinfo(token, init)
      expect([status, headers.get('cache-control'), body]).toEqual([200, 'no-store', expected])
    }
    const inForm = await post('/oauth/userinfo', { access_token: token })
    expect([inForm.status, inForm.body]).toEqual([200, expected])
    expect(inForm.body).toMatchObject({ sub: String(mira.id) })
  })

  test('returns a public address without the scope email', async () => {
    const changed = { public_email: 'mira@public.example.test' }
    await world.core.db.write((db) => db.updateTable('users').set(changed).where('id', '=', mira.id).execute())
    const { body } = await userinfo(await tokenOf('openid'))
    expect(body).toMatchObject({ email: 'mira@public.example.test', email_verified: true })
  })

  test('rejects a token that is unknown, revoked, expired or lacks the scope', async () => {
    const [narrow, token] = [await tokenOf('api'), await tokenOf('openid')]
    const answer = async (shown: string) => {
      const { status, body } = await userinfo(shown)
      return [status, (body as { error: string; error_description: string }).error_description]
    }
    expect(await answer('no')).toEqual([401, 'The access token is invalid'])
    expect(await answer(narrow)).toEqual([
      403,
      'The request requires higher privileges than provided by the access token.',
    ])
    expect((await send('/oauth/userinfo')).status).toBe(401)
    await post('/oauth/revoke', { token })
    expect(await answer(token)).toEqual([401, 'The access token was revoked'])
    const other = await tokenOf('openid')
    world.clock.advance(7_200_000)
    expect(await answer(other)).toEqual([401, 'The access token expired'])
    const last = await tokenOf('openid')
    await world.core.db.write((db) => db.updateTable('users').set({ state: 'blocked' }).execute())
    expect(await answer(last)).toEqual([401, 'The access token is invalid'])
  })
})
