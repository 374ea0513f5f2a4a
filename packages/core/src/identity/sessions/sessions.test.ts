import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import type { User } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import { activateUser, blockUser, deactivateUser, unblockUser, updateUser } from '../accounts/user-operations.ts'
import { createApplication } from '../oauth/application-operations.ts'
import { allowAuthorization, checkAuthorization } from '../oauth/authorization.ts'
import { grantToken } from '../oauth/grant-token.ts'
import { findOAuthToken } from '../oauth/oauth-token.ts'
import { insertAccessToken } from '../tokens/access-token-store.ts'
import { getPersonalToken } from '../tokens/personal-token-operations.ts'
import { hashPassword, savePasswordHash, verifyPassword } from '../users/password-store.ts'
import type { SignInAttempt } from './attempt-store.ts'
import { csrfTokenOf, findSession, isFromOurPage, newVisitorSecret, signIn, signOut } from './session.ts'
import { deleteExpiredSessions, deleteSessionsOf, insertSession } from './session-store.ts'

const PASSWORD = 'correct horse'
const DAY_MS = 86_400_000

let world: World
let mira: User

beforeEach(async () => {
  world = await World.open()
  mira = await withPassword('mira')
})

afterEach(() => world.close())

async function withPassword(username: string): Promise<User> {
  const user = await world.user(username)
  const hash = await hashPassword(world.core, PASSWORD)
  await world.core.db.write((db) => savePasswordHash({ db }, user.id, hash))
  return user
}

const attempt = (changes: Partial<SignInAttempt> = {}, formerSecret?: string) =>
  signIn(world.core, { login: 'mira', password: PASSWORD, address: '192.0.2.7', ...changes }, formerSecret)
const outcome = async (changes: Partial<SignInAttempt>) => {
  const answer = await attempt(changes).catch((error: DomainError) => error.failure)
  return 'kind' in answer ? answer.kind : answer
}

async function signedIn(formerSecret?: string): Promise<string> {
  const answer = await attempt({}, formerSecret)
  return answer.kind === 'signed_in' ? answer.sessionSecret : expect.unreachable(answer.kind)
}

describe('sessions', () => {
  test('a session identifies its user, and no column holds its secret', async () => {
    const secret = await signedIn()
    expect(secret).toMatch(/^[0-9a-f]{64}$/)
    expect(await findSession(world.core, secret)).toEqual({
      kind: 'session',
      state: 'valid',
      id: undefined,
      user: expect.objectContaining({ username: 'mira' }),
      scopes: ['api'],
      signedInAtMs: expect.any(Number),
    })
    const rows = await world.core.db.read.selectFrom('sessions').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(secret)
    expect(await findSession(world.core, rows[0]!.session_digest)).toBeUndefined()
  })

  test('signing in replaces the secret that the browser had, and ends its session', async () => {
    const planted = newVisitorSecret(world.core)
    const first = await signedIn(planted)
    expect(first).not.toBe(planted)
    expect(await findSession(world.core, planted)).toBeUndefined()
    const second = await signedIn(first)
    expect(await findSession(world.core, first)).toBeUndefined()
    expect(await findSession(world.core, second)).toBeDefined()
  })

  test('ends 7 days after the last request', async () => {
    const secret = await signedIn()
    await world.clock.advance(6 * DAY_MS)
    expect(await findSession(world.core, secret)).toBeDefined()
    await world.clock.advance(7 * DAY_MS - 1)
    expect(await findSession(world.core, secret)).toBeDefined()
    await world.clock.advance(7 * DAY_MS)
    expect(await findSession(world.core, secret)).toBeUndefined()
  })

  test('ends 30 days after signing in, however often it is used', async () => {
    const secret = await signedIn()
    for (let day = 1; day < 30; day += 1) {
      await world.clock.advance(DAY_MS)
      expect(await findSession(world.core, secret)).toBeDefined()
    }
    await world.clock.advance(DAY_MS)
    expect(await findSession(world.core, secret)).toBeUndefined()
  })

  test('a session that an earlier version extended beyond 30 days has expired, and is deleted', async () => {
    const secret = await signedIn()
    await world.core.db.write((db) =>
      db
        .updateTable('sessions')
        .set({ expires_at_ms: world.clock.nowMs() + 90 * DAY_MS })
        .execute(),
    )
    await world.clock.advance(30 * DAY_MS)
    expect(await findSession(world.core, secret)).toBeUndefined()
    await world.core.db.write((db) => deleteExpiredSessions({ db, nowMs: world.clock.nowMs() }))
    expect(await world.core.db.read.selectFrom('sessions').select('id').execute()).toEqual([])
  })

  test('is not written on every request in its last week', async () => {
    const secret = await signedIn()
    for (let day = 0; day < 27; day += 3) {
      await world.clock.advance(3 * DAY_MS)
      await findSession(world.core, secret)
    }
    const writes = vi.spyOn(world.core.db, 'write')
    expect(await findSession(world.core, secret)).toBeDefined()
    expect(writes).not.toHaveBeenCalled()
  })

  test('signing out ends one session, `deleteSessionsOf` all of a user', async () => {
    const [first, second] = [await signedIn(), await signedIn()]
    await signOut(world.core, first)
    expect(await findSession(world.core, first)).toBeUndefined()
    expect(await findSession(world.core, second)).toBeDefined()
    await world.core.db.write((db) => deleteSessionsOf({ db }, mira.id))
    expect(await findSession(world.core, second)).toBeUndefined()
  })

  test('a blocked user has no session and gets none; only a caller with the right password learns that the user is blocked', async () => {
    const secret = await signedIn()
    await world.core.db.write((db) =>
      db.updateTable('users').set({ state: 'blocked' }).where('id', '=', mira.id).execute(),
    )
    expect(await findSession(world.core, secret)).toBeUndefined()
    expect(await outcome({})).toBe('not_active')
    expect(await outcome({ password: 'no' })).toBe('wrong_login_or_password')
  })

  test('a user has at most 100 sessions: the oldest is deleted', async () => {
    const first = await signedIn()
    await world.core.db.write(async (db) => {
      for (let count = 0; count < 100; count += 1) {
        await insertSession({ db, nowMs: world.clock.nowMs() }, world.core, mira.id, { idleMs: 60_000 })
      }
    })
    expect(await findSession(world.core, first)).toBeUndefined()
    expect(await world.core.db.read.selectFrom('sessions').select('id').execute()).toHaveLength(100)
  })
})

describe.each([
  ['a new password', updateUser, { password: 'another correct horse' }],
  ['a block', blockUser, {}],
  ['a deactivation', deactivateUser, {}],
] as const)('%s', (_name, operation, input) => {
  async function applyChange(): Promise<User> {
    const root = await world.user('root', { isAdministrator: true })
    await world.perform(root, operation as typeof updateUser, { user: mira.id, ...input })
    return root
  }

  test('ends the sessions of a user', async () => {
    const secret = await signedIn()
    await applyChange()
    expect(await findSession(world.core, secret)).toBeUndefined()
  })

  test('revokes the OAuth tokens of the user, and keeps personal tokens', async () => {
    const [ofUser, ofOther] = [await grant('mira'), await grant((await withPassword('noor')).username)]
    const personal = await world.core.db.write((db) =>
      insertAccessToken({ db, nowMs: world.clock.nowMs() }, { ...ofMira(), value: 'svcpat-of-mira' }),
    )
    const root = await applyChange()
    expect((await findOAuthToken(world.core, ofUser.accessToken))?.state).toBe('revoked')
    expect((await findOAuthToken(world.core, ofOther.accessToken))?.state).toBe('valid')
    await world.perform(root, unblockUser, { user: mira.id }).catch(() => {})
    await world.perform(root, activateUser, { user: mira.id }).catch(() => {})
    const again = grantToken(world.core, {
      grantType: 'refresh_token',
      refreshToken: ofUser.refreshToken,
      address: '::1',
    })
    await expect(again).rejects.toThrow('invalid_grant')
    expect(await world.perform(root, getPersonalToken, { id: personal.id })).toMatchObject({ state: 'valid' })
  })

  test('prevents sessions and tokens from concurrent sign-ins with the former password', async () => {
    const { db } = world.core
    const runWithChange = async (work: (core: Core) => Promise<unknown>) => {
      let writes = 0
      // The first write inserts an attempt, the second deletes it, the third would start the session or issue the token.
      const write: typeof db.write = async (inside, options) => {
        writes += 1
        if (writes === 3) await applyChange()
        return db.write(inside, options)
      }
      return work({ ...world.core, db: { ...db, write } })
    }
    const login = { login: 'mira', password: PASSWORD, address: '::1' }
    expect(await runWithChange((core) => signIn(core, login, undefined))).toEqual({ kind: 'wrong_login_or_password' })
    expect(await db.read.selectFrom('sessions').select('id').execute()).toEqual([])
  })

  test('deletes unused authorization codes', async () => {
    const root = await world.user('admin', { isAdministrator: true })
    const draft = { name: 'Board', redirectUri: 'https://board.example.test/cb', scopes: 'api' }
    const { uid, secret } = await world.perform(root, createApplication, draft)
    const asked = { clientId: uid, redirectUri: draft.redirectUri }
    const checked = await checkAuthorization(world.core, { ...asked, responseType: 'code' })
    if (checked.kind === 'refused') throw checked.refusal
    const code = await allowAuthorization(world.core, mira.id, checked.authorization)
    const administrator = await applyChange()
    await world.perform(administrator, unblockUser, { user: mira.id }).catch(() => {})
    await world.perform(administrator, activateUser, { user: mira.id }).catch(() => {})
    const request = { grantType: 'authorization_code', ...asked, clientSecret: secret, code, address: '::1' }
    await expect(grantToken(world.core, request)).rejects.toThrow('invalid_grant')
  })
})

const grant = (username: string) =>
  grantToken(world.core, { grantType: 'password', username, password: PASSWORD, address: '::1' })
const ofMira = () =>
  ({ kind: 'personal', userId: mira.id, name: 'ci', scopes: ['api'], expiresAt: '2026-03-01' }) as const

test('a CSRF token is bound to its session, and does not reveal the secret', async () => {
  const [mine, others] = [await signedIn(), await signedIn()]
  const isOurs = (csrfToken?: string) => isFromOurPage(mine, { csrfToken, fetchSite: undefined })
  expect(isOurs(csrfTokenOf(mine))).toBe(true)
  expect([isOurs(csrfTokenOf(others)), isOurs(''), isOurs()]).toEqual([false, false, false])
  expect(csrfTokenOf(mine)).not.toContain(mine)
  expect(await findSession(world.core, csrfTokenOf(mine))).toBeUndefined()
})

describe('guessing', () => {
  const tooOften = (retryAfterSeconds: number) => ({ code: 'too_often', retryAfterSeconds })
  const guess = (login: string, address: string) => outcome({ login, address, password: 'guess' })
  const addressOf = (index: number) => `192.0.2.${index}`

  async function guessTenTimes(of: (index: number) => [login: string, address: string]): Promise<void> {
    for (let index = 0; index < 10; index += 1) expect(await guess(...of(index))).toBe('wrong_login_or_password')
  }

  test('rejects right passwords for 10 minutes after ten wrong ones for a login, from any address', async () => {
    await guessTenTimes((index) => ['mira', addressOf(index)])
    expect(await outcome({ address: '198.51.100.1' })).toEqual(tooOften(600))
    await world.clock.advance(599_000)
    expect(await outcome({ login: 'MIRA', address: '198.51.100.1' })).toEqual(tooOften(1))
    await world.clock.advance(1_000)
    expect(await outcome({ address: '198.51.100.1' })).toBe('signed_in')
  })

  test('counts attempts from one address, for any login', async () => {
    await guessTenTimes((index) => [`user${index}`, '192.0.2.7'])
    expect(await outcome({ address: '192.0.2.7' })).toEqual(tooOften(600))
    expect(await outcome({ address: '192.0.2.8' })).toBe('signed_in')
  })

  test('counts an IPv6 network as one address', async () => {
    await guessTenTimes((index) => [`user${index}`, `2001:db8:0:1::${index}`])
    expect(await outcome({ address: '2001:0db8:0000:0001:ffff::1' })).toEqual(tooOften(600))
    expect(await outcome({ address: '2001:db8:0:2::1' })).toBe('signed_in')
  })

  test('counts each attempt for 10 minutes', async () => {
    for (let index = 0; index < 10; index += 1) {
      await guess('mira', addressOf(index))
      await world.clock.advance(60_000)
    }
    // The first attempt has just left the window, the second leaves it in a minute.
    expect(await guess('mira', addressOf(10))).toBe('wrong_login_or_password')
    expect(await guess('mira', addressOf(11))).toEqual(tooOften(60))
  })

  test('answers an unknown login like a known one', async () => {
    await guessTenTimes((index) => ['unknown', addressOf(index)])
    expect(await guess('unknown', addressOf(10))).toEqual(tooOften(600))
  })

  test('takes as long for an unknown login as for a wrong password', async () => {
    const context = { db: world.core.db.read, nowMs: world.clock.nowMs() }
    const medianMs = async (login: string) => {
      const tookMs: number[] = []
      for (let count = 0; count < 9; count += 1) {
        const before = process.cpuUsage()
        expect(await verifyPassword(context, login, 'guess')).toBeUndefined()
        tookMs.push(process.cpuUsage(before).user / 1_000)
      }
      return tookMs.toSorted((a, b) => a - b)[4]!
    }
    // In time of the processor. Without computing a hash it would take less than a tenth of that.
    const [known, unknown] = [await medianMs('mira'), await medianMs('unknown')]
    expect(unknown).toBeGreaterThan(known / 4)
  })

  test('a successful sign-in to one account does not reset the count of guesses at others', async () => {
    await withPassword('noor')
    for (let index = 0; index < 10; index += 1) {
      expect(await guess(`user${index}`, '192.0.2.7')).toBe('wrong_login_or_password')
      if (index < 9) expect(await outcome({ login: 'noor', address: '192.0.2.7' })).toBe('signed_in')
    }
    expect(await outcome({ login: 'noor', address: '192.0.2.7' })).toEqual(tooOften(600))
  })

  test('concurrent attempts cannot exceed the limit', async () => {
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => guess('mira', addressOf(index))))
    expect(answers.filter((answer) => answer === 'wrong_login_or_password')).toHaveLength(10)
  })

  test('counts the password grant and the sign-in form together', async () => {
    await guessTenTimes((index) => ['mira', addressOf(index)])
    const request = { grantType: 'password', username: 'mira', password: PASSWORD, address: '198.51.100.1' }
    const refused = await grantToken(world.core, request).catch((error: DomainError) => error.failure)
    expect(refused).toEqual(tooOften(600))
  })

  test('deletes attempts that count no longer, and stores no login in plain text', async () => {
    await guessTenTimes((index) => [`my secret ${index}`, addressOf(index)])
    const rows = () => world.core.db.read.selectFrom('password_attempts').selectAll().execute()
    expect(JSON.stringify(await rows())).not.toContain('secret')
    await world.clock.advance(600_000)
    await guess('mira', addressOf(1))
    expect(await rows()).toHaveLength(1)
  })

  test('deletes the oldest attempts beyond 100,000', async () => {
    const { db, clock } = world.core
    await guess('mira', addressOf(0))
    const others = Array(5_000).fill({ login_digest: 'x', address_digest: 'x', at_ms: clock.nowMs() })
    await db.write(async (tx) => {
      for (let batch = 0; batch < 20; batch += 1) await tx.insertInto('password_attempts').values(others).execute()
    })
    await guess('mira', addressOf(1))
    const rows = await db.read.selectFrom('password_attempts').select('id').orderBy('id').execute()
    expect([rows.length, rows[0], rows.at(-1)]).toEqual([100_000, { id: 3 }, { id: 100_002 }])
  })
})
