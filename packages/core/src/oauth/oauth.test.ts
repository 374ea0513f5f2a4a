import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { User } from '../model/user.ts'
import { hashPassword, savePasswordHash } from '../users/password-store.ts'
import type { ApplicationWithSecret } from './application.ts'
import { createApplication } from './application-operations.ts'
import { type AuthorizationRequest, allowAuthorization, checkAuthorization } from './authorization.ts'
import { grantToken, type TokenRequest } from './grant-token.ts'
import type { OAuthRefusal } from './oauth-refusal.ts'
import { findOAuthToken, introspectOAuthToken, revokeOAuthToken } from './oauth-token.ts'

const CALLBACK = 'https://board.example.test/cb'
/** RFC 7636, appendix B. */
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

let world: World
let root: User
let mira: User
let board: ApplicationWithSecret

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  board = await newApplication()
})

afterEach(() => world.close())

const newApplication = (changes: object = {}) =>
  world.perform(root, createApplication, {
    name: 'Deploy board',
    redirectUri: CALLBACK,
    scopes: 'api read_user',
    ...changes,
  })
const credentials = ({ uid, secret }: ApplicationWithSecret) => ({ clientId: uid, clientSecret: secret })
const grant = (request: Partial<TokenRequest>) => grantToken(world.core, { address: '192.0.2.7', ...request })
const code = (refusal: OAuthRefusal) => refusal.code
const find = async (accessToken: string) => findOAuthToken(world.core, accessToken)
const stateOf = async (accessToken: string) => (await find(accessToken))?.state

async function newCode(
  application: ApplicationWithSecret,
  changes: Partial<AuthorizationRequest> = {},
): Promise<string> {
  const checked = await checkAuthorization(world.core, {
    clientId: application.uid,
    redirectUri: CALLBACK,
    responseType: 'code',
    ...changes,
  })
  if (checked.kind === 'refused') throw checked.refusal
  return allowAuthorization(world.core, mira.id, checked.authorization)
}

const forCode = (application: ApplicationWithSecret, text: string, changes: Partial<TokenRequest> = {}) =>
  grant({ grantType: 'authorization_code', ...credentials(application), code: text, redirectUri: CALLBACK, ...changes })
const refresh = (refreshToken: string | undefined, changes: Partial<TokenRequest> = {}) =>
  grant({ grantType: 'refresh_token', ...credentials(board), refreshToken, ...changes })

describe('authorization code', () => {
  test('can be exchanged once for a token of its user and scopes', async () => {
    const text = await newCode(board, { scope: 'read_user' })
    const issued = await forCode(board, text)
    expect(issued).toMatchObject({ scopes: ['read_user'], expiresInSeconds: 7_200 })
    expect(issued.accessToken).toMatch(/^[0-9a-f]{64}$/)
    expect(await find(issued.accessToken)).toMatchObject({
      kind: 'oauth',
      state: 'valid',
      user: { username: 'mira' },
      scopes: ['read_user'],
    })
    expect(await forCode(board, text).catch(code)).toBe('invalid_grant')
  })

  test('a second use revokes the tokens of the first, refreshed ones included', async () => {
    const text = await newCode(board)
    const first = await forCode(board, text)
    const second = await refresh(first.refreshToken)
    expect(await forCode(board, text).catch(code)).toBe('invalid_grant')
    expect([await stateOf(first.accessToken), await stateOf(second.accessToken)]).toEqual(['revoked', 'revoked'])
    expect(await refresh(second.refreshToken).catch(code)).toBe('invalid_grant')
  })

  test('only one of two concurrent exchanges of a code succeeds', async () => {
    const text = await newCode(board)
    const outcomes = await Promise.all([1, 2].map(() => forCode(board, text).then(() => 'issued', code)))
    expect(outcomes.toSorted()).toEqual(['invalid_grant', 'issued'])
  })

  test('expires after 10 minutes', async () => {
    const text = await newCode(board)
    await world.clock.advance(600_000)
    expect(await forCode(board, text).catch(code)).toBe('invalid_grant')
  })

  test('is valid for its application and redirect URI only, and attempts of other applications do not use it up', async () => {
    const other = await newApplication({ redirectUri: `${CALLBACK}\n${CALLBACK}/2` })
    const text = await newCode(board)
    expect(await forCode(other, text).catch(code)).toBe('invalid_grant')
    expect(await forCode(board, text, { redirectUri: `${CALLBACK}/2` }).catch(code)).toBe('invalid_grant')
    expect(await forCode(board, text, { redirectUri: undefined }).catch(code)).toBe('invalid_request')
    expect(await stateOf((await forCode(board, text)).accessToken)).toBe('valid')
  })

  test('accepts a redirect URI only exactly as it was registered', async () => {
    expect(await newCode(board, { redirectUri: `${CALLBACK}/` }).catch(code)).toBe('invalid_request')
    expect(await newCode(board, { redirectUri: CALLBACK.toUpperCase() }).catch(code)).toBe('invalid_request')
  })

  test('cannot be exchanged while its user is blocked', async () => {
    const text = await newCode(board)
    await setState('blocked')
    expect(await forCode(board, text).catch(code)).toBe('invalid_grant')
  })
})

describe('PKCE', () => {
  const challenged = { codeChallenge: CHALLENGE, codeChallengeMethod: 'S256' }

  test.each([
    { ...challenged, codeVerifier: VERIFIER },
    { codeChallenge: VERIFIER, codeVerifier: VERIFIER },
    { codeChallenge: VERIFIER, codeChallengeMethod: 'plain', codeVerifier: VERIFIER },
  ])('$codeChallengeMethod: the verifier matches the challenge', async ({ codeVerifier, ...challenge }) => {
    await forCode(board, await newCode(board, challenge), { codeVerifier })
  })

  test.each([
    { ...challenged, codeVerifier: VERIFIER.replace('d', 'e') },
    { ...challenged, codeVerifier: CHALLENGE },
    { ...challenged, codeVerifier: undefined },
    { codeChallenge: VERIFIER, codeVerifier: CHALLENGE },
    // The challenge was removed from the authorization request.
    { codeVerifier: VERIFIER },
  ])('%j does not match the challenge', async ({ codeVerifier, ...challenge }) => {
    const text = await newCode(board, challenge)
    expect(await forCode(board, text, { codeVerifier }).catch(code)).toBe('invalid_grant')
  })

  test.each([
    { codeChallenge: 'short' },
    { codeChallenge: CHALLENGE, codeChallengeMethod: 'S512' },
    { codeChallenge: `${CHALLENGE}=`, codeChallengeMethod: 'S256' },
  ])('%j is not a valid challenge', async (challenge) => {
    expect(await newCode(board, challenge).catch(code)).toBe('invalid_request')
  })

  test('a public application needs a challenge but no secret', async () => {
    const open = await newApplication({ confidential: false })
    expect(await newCode(open).catch(code)).toBe('invalid_request')
    const text = await newCode(open, challenged)
    const issued = await forCode(open, text, { clientSecret: undefined, codeVerifier: VERIFIER })
    await refresh(issued.refreshToken, { clientId: open.uid, clientSecret: undefined })
  })

  test.each([
    ['the same', { redirectUri: CALLBACK, codeVerifier: VERIFIER }, 'issued'],
    ['neither', {}, 'issued'],
    ['another redirect URI', { redirectUri: `${CALLBACK}/2` }, 'invalid_grant'],
    ['another verifier', { codeVerifier: CHALLENGE }, 'invalid_grant'],
  ])('a refresh compares redirect URI and verifier with those of the code: %s', async (_, shown, expected) => {
    const open = await newApplication({ confidential: false, redirectUri: `${CALLBACK}\n${CALLBACK}/2` })
    const text = await newCode(open, challenged)
    const first = await forCode(open, text, { clientSecret: undefined, codeVerifier: VERIFIER })
    const withoutSecret = { clientId: open.uid, clientSecret: undefined }
    const second = await refresh(first.refreshToken, withoutSecret)
    expect(await refresh(second.refreshToken, { ...withoutSecret, ...shown }).then(() => 'issued', code)).toBe(expected)
    await refresh(second.refreshToken, withoutSecret)
  })
})

describe('refresh', () => {
  test('works after the access token has expired', async () => {
    const first = await forCode(board, await newCode(board))
    await world.clock.advance(7_200_000)
    expect(await stateOf(first.accessToken)).toBe('expired')
    const second = await refresh(first.refreshToken)
    expect(await find(second.accessToken)).toMatchObject({ state: 'valid', scopes: ['api'], user: { id: mira.id } })
  })

  test('can be repeated until the new access token is used, in case the answer was lost', async () => {
    const first = await forCode(board, await newCode(board))
    const lost = await refresh(first.refreshToken)
    const second = await refresh(first.refreshToken)
    expect(await stateOf(first.accessToken)).toBe('valid')
    expect(await stateOf(second.accessToken)).toBe('valid')
    expect(await stateOf(first.accessToken)).toBe('revoked')
    expect(await stateOf(lost.accessToken)).toBe('revoked')
    expect(await stateOf(second.accessToken)).toBe('valid')
  })

  test('using a revoked refresh token revokes the family', async () => {
    const first = await forCode(board, await newCode(board))
    const second = await refresh(first.refreshToken)
    const third = await refresh(second.refreshToken)
    expect(await stateOf(third.accessToken)).toBe('valid')
    expect(await refresh(first.refreshToken).catch(code)).toBe('invalid_grant')
    expect(await stateOf(third.accessToken)).toBe('revoked')
    expect(await refresh(third.refreshToken).catch(code)).toBe('invalid_grant')
  })

  test('the first use of a token keeps the tokens refreshed from it, and other families', async () => {
    const other = await forCode(board, await newCode(board))
    const first = await forCode(board, await newCode(board))
    const second = await refresh(first.refreshToken)
    const third = await refresh(second.refreshToken)
    const states = []
    for (const { accessToken } of [second, third, other]) states.push(await stateOf(accessToken))
    expect(states).toEqual(['valid', 'valid', 'valid'])
  })

  test('can narrow the scopes, but not widen them', async () => {
    const { refreshToken } = await forCode(board, await newCode(board, { scope: 'api read_user' }))
    const narrow = await refresh(refreshToken, { scope: 'read_user' })
    expect(narrow.scopes).toEqual(['read_user'])
    expect(await refresh(narrow.refreshToken, { scope: 'api' }).catch(code)).toBe('invalid_scope')
  })

  test('works only for the application that got the token', async () => {
    const { refreshToken } = await forCode(board, await newCode(board))
    const other = await newApplication()
    expect(await refresh(refreshToken, credentials(other)).catch(code)).toBe('invalid_grant')
    expect(await refresh(refreshToken, { clientId: undefined, clientSecret: undefined }).catch(code)).toBe(
      'invalid_grant',
    )
    await setState('blocked')
    expect(await refresh(refreshToken).catch(code)).toBe('invalid_grant')
  })
})

describe('password and client credentials', () => {
  beforeEach(async () => {
    const hash = await hashPassword(world.core, 'correct horse')
    await world.core.db.write((db) => savePasswordHash({ db }, mira.id, hash))
  })

  const withPassword = (changes: Partial<TokenRequest> = {}) =>
    grant({ grantType: 'password', username: 'mira', password: 'correct horse', ...changes })
  const noClient = { clientId: undefined, clientSecret: undefined }

  test('the password grant works without a client, and so does its refresh', async () => {
    const first = await withPassword({ scope: 'read_api' })
    expect(await find(first.accessToken)).toMatchObject({ user: { id: mira.id }, scopes: ['read_api'] })
    const second = await refresh(first.refreshToken, noClient)
    expect(await stateOf(second.accessToken)).toBe('valid')
    expect(await refresh(second.refreshToken).catch(code)).toBe('invalid_grant')
  })

  test('a client limits the scopes of the password grant; a wrong client secret is rejected before the password is checked', async () => {
    expect((await withPassword(credentials(board))).scopes).toEqual(['api'])
    expect(await withPassword({ ...credentials(board), scope: 'sudo' }).catch(code)).toBe('invalid_scope')
    expect(await withPassword({ clientId: board.uid, clientSecret: 'no' }).catch(code)).toBe('invalid_client')
  })

  test('wrong passwords, unknown users and blocked users get the same answer', async () => {
    await setState('blocked')
    for (const wrong of [{ password: 'no' }, { username: 'unknown' }, {}]) {
      expect(await withPassword(wrong).catch(code)).toBe('invalid_grant')
    }
  })

  test('issues no token for a password that is replaced during its verification', async () => {
    const { db } = world.core
    const next = await hashPassword(world.core, 'battery staple')
    let writes = 0
    const write: typeof db.write = async (inside, options) => {
      writes += 1
      if (writes === 3) await db.write((tx) => savePasswordHash({ db: tx }, mira.id, next))
      return db.write(inside, options)
    }
    const core = { ...world.core, db: { read: db.read, write, close: () => db.close() } }
    const request = { grantType: 'password', username: 'mira', password: 'correct horse', address: '192.0.2.7' }
    expect(await grantToken(core, request).catch(code)).toBe('invalid_grant')
  })

  test('with ropc_without_client_credentials off, the password grant and its refreshes require a client', async () => {
    const { refreshToken } = await withPassword()
    const core = {
      ...world.core,
      settings: { ...world.core.settings, pinnedSettings: { ropc_without_client_credentials: false } },
    }
    const ask = (request: Partial<TokenRequest>) =>
      grantToken(core, { address: '192.0.2.7', username: 'mira', password: 'correct horse', ...request })
    expect(await ask({ grantType: 'password' }).catch(code)).toBe('invalid_client')
    expect(await ask({ grantType: 'refresh_token', refreshToken }).catch(code)).toBe('invalid_client')
    expect((await ask({ grantType: 'password', ...credentials(board) })).scopes).toEqual(['api'])
  })

  test('a client credentials token has no user and no refresh token', async () => {
    const issued = await grant({ grantType: 'client_credentials', ...credentials(board) })
    expect(issued.refreshToken).toBeUndefined()
    expect(await find(issued.accessToken)).toMatchObject({ state: 'valid', user: undefined, scopes: ['api'] })
    const open = await newApplication({ confidential: false })
    const asked = grant({ grantType: 'client_credentials', clientId: open.uid, clientSecret: undefined })
    expect(await asked.catch(code)).toBe('invalid_client')
  })

  test('an application without the scope `api` must request scopes', async () => {
    const reader = await newApplication({ scopes: 'read_user' })
    expect(await grant({ grantType: 'client_credentials', ...credentials(reader) }).catch(code)).toBe('invalid_scope')
  })
})

describe('scopes of administrators', () => {
  const setAdministrator = (is: 0 | 1) =>
    world.core.db.write((db) => db.updateTable('users').set({ is_admin: is }).where('id', '=', mira.id).execute())
  let mighty: ApplicationWithSecret

  beforeEach(async () => {
    mighty = await newApplication({ scopes: 'api sudo admin_mode' })
    const hash = await hashPassword(world.core, 'correct horse')
    await world.core.db.write((db) => savePasswordHash({ db }, mira.id, hash))
  })

  test.each(['sudo', 'api admin_mode', 'read_service_ping'])(
    '%s is granted to administrators only, by any grant',
    async (scope) => {
      const password = { grantType: 'password', username: 'mira', password: 'correct horse', scope }
      expect(await grant(password).catch(code)).toBe('invalid_scope')
      expect(await grant({ ...password, ...credentials(mighty) }).catch(code)).toBe('invalid_scope')
      const itself = { grantType: 'client_credentials', ...credentials(mighty), scope }
      expect(await grant(itself).catch(code)).toBe('invalid_scope')
      const request = { clientId: mighty.uid, redirectUri: CALLBACK, responseType: 'code', scope }
      expect(await checkAuthorization(world.core, request, mira)).toMatchObject({
        kind: 'refused',
        refusal: { code: 'invalid_scope' },
      })
    },
  )

  test('former administrators do not get them for a code or a refresh', async () => {
    await setAdministrator(1)
    const [early, late] = [await newCode(mighty, { scope: 'api sudo' }), await newCode(mighty, { scope: 'api sudo' })]
    const bare = await newCode(mighty, { scope: 'sudo' })
    const issued = await forCode(mighty, early)
    expect(issued.scopes).toEqual(['api', 'sudo'])
    await setAdministrator(0)
    expect((await forCode(mighty, late)).scopes).toEqual(['api'])
    expect(await forCode(mighty, bare).catch(code)).toBe('invalid_grant')
    const refreshed = await refresh(issued.refreshToken, credentials(mighty))
    expect(refreshed.scopes).toEqual(['api'])
    await setAdministrator(1)
    const widened = refresh(refreshed.refreshToken, { ...credentials(mighty), scope: 'sudo' })
    expect(await widened.catch(code)).toBe('invalid_scope')
  })
})

describe('the limit of tokens of one user for one application', () => {
  /** Inserts 9,999 rows beside the existing one. */
  async function fill(changes: object): Promise<void> {
    const { id: _, ...row } = await world.core.db.read.selectFrom('oauth_tokens').selectAll().executeTakeFirstOrThrow()
    const rows = Array.from({ length: 9_999 }, (__, index) => ({
      ...row,
      ...{ access_digest: `a${index}`, refresh_digest: `r${index}`, family: `f${index}`, ...changes },
    }))
    await world.core.db.write(async (db) => {
      while (rows.length > 0) await db.insertInto('oauth_tokens').values(rows.splice(0, 1_000)).execute()
    })
  }
  const count = async () => (await world.core.db.read.selectFrom('oauth_tokens').select('id').execute()).length

  test('keeps valid tokens and rejects another one; its code stays valid', async () => {
    const [first, text] = [await forCode(board, await newCode(board)), await newCode(board)]
    await fill({})
    expect(await forCode(board, text).catch(code)).toBe('too_many_tokens')
    expect(await stateOf(first.accessToken)).toBe('valid')
    const other = await newApplication()
    await forCode(other, await newCode(other))
    await revokeOAuthToken(world.core, credentials(board), first.accessToken)
    await forCode(board, text)
  })

  test.each([
    ['revoked', { revoked_at_ms: 1_770_000_000_000 }],
    ['expired and not refreshable', { refresh_digest: null, expires_at_ms: 1_770_000_000_000 }],
  ])('deletes %s tokens at the limit', async (_, ended) => {
    const first = await forCode(board, await newCode(board))
    await fill(ended)
    await forCode(board, await newCode(board))
    expect([await count(), await stateOf(first.accessToken)]).toEqual([2, 'valid'])
  })

  test('a repeated refresh succeeds at the limit, and deletes the tokens that its earlier repetitions created', async () => {
    const first = await forCode(board, await newCode(board))
    await fill({})
    const answers = [await refresh(first.refreshToken), await refresh(first.refreshToken)]
    expect(await Promise.all(answers.map(({ accessToken }) => stateOf(accessToken)))).toEqual([undefined, 'valid'])
    expect(await count()).toBe(10_001)
  })
})

describe('revocation and introspection', () => {
  test('revoking a token revokes its family, also the token that it replaced', async () => {
    const first = await forCode(board, await newCode(board))
    const second = await refresh(first.refreshToken)
    await revokeOAuthToken(world.core, credentials(board), second.accessToken)
    expect(await stateOf(first.accessToken)).toBe('revoked')
    expect(await refresh(first.refreshToken).catch(code)).toBe('invalid_grant')
  })

  test('another application can neither revoke nor introspect a token', async () => {
    const other = await newApplication()
    const { accessToken } = await forCode(board, await newCode(board))
    expect(await revokeOAuthToken(world.core, credentials(other), accessToken).catch(code)).toBe('unauthorized_client')
    expect(await introspectOAuthToken(world.core, credentials(other), accessToken)).toBeUndefined()
    expect(await introspectOAuthToken(world.core, credentials(board), accessToken)).toMatchObject({ userId: mira.id })
    expect(await introspectOAuthToken(world.core, { accessToken }, accessToken)).toMatchObject({ kind: 'access' })
  })

  test('no column holds a token or a code', async () => {
    const text = await newCode(board)
    const { accessToken, refreshToken } = await forCode(board, text)
    const { read } = world.core.db
    const tables = ['oauth_codes', 'oauth_tokens', 'events'] as const
    const rows = await Promise.all(tables.map((table) => read.selectFrom(table).selectAll().execute()))
    for (const secret of [text, accessToken, refreshToken!]) expect(JSON.stringify(rows)).not.toContain(secret)
  })

  test('deletes tokens that expired or were revoked long ago', async () => {
    const { accessToken } = await forCode(board, await newCode(board))
    await revokeOAuthToken(world.core, credentials(board), accessToken)
    await world.clock.advance(31 * 86_400_000)
    await forCode(board, await newCode(board))
    expect(await world.core.db.read.selectFrom('oauth_tokens').select('id').execute()).toHaveLength(1)
    expect(await world.core.db.read.selectFrom('oauth_codes').select('id').execute()).toHaveLength(1)
  })
})

const setState = (state: 'blocked') =>
  world.core.db.write((db) => db.updateTable('users').set({ state }).where('id', '=', mira.id).execute())
