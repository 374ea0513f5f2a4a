import { beforeEach, describe, expect, test } from 'vitest'
import { hashPassword, savePasswordHash } from '../users/password-store.ts'
import type { ApplicationWithSecret } from './application.ts'
import { checkAuthorization } from './authorization.ts'
import { grantToken, type TokenRequest } from './grant-token.ts'
import {
  board,
  CALLBACK,
  code,
  credentials,
  find,
  forCode,
  grant,
  inOAuthWorld,
  mira,
  newApplication,
  newCode,
  refresh,
  setState,
  stateOf,
  world,
} from './oauth.harness.ts'

inOAuthWorld()

beforeEach(async () => {
  const hash = await hashPassword(world.core, 'correct horse')
  await world.core.db.write((db) => savePasswordHash({ db }, mira.id, hash))
})

describe('password and client credentials', () => {
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
    const core = { ...world.core, db: { ...db, write } }
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
