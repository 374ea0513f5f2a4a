import { beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import type { User } from '../../base/model/user.ts'
import type { ApplicationWithSecret } from './application.ts'
import { removeApplication } from './application-operations.ts'
import { listAuthorizedApplications, revokeAuthorizedApplication } from './authorized-application-operations.ts'
import {
  board,
  credentials,
  forCode,
  grant,
  inOAuthWorld,
  mira,
  newApplication,
  newCode,
  refresh,
  root,
  stateOf,
  world,
} from './oauth.harness.ts'
import { insertOAuthToken } from './oauth-token-store.ts'

const HOUR_MS = 3_600_000

let noor: User
let clock: ApplicationWithSecret

inOAuthWorld()

beforeEach(async () => {
  noor = await world.user('noor')
  clock = await newApplication({ name: 'Clock' })
})

const authorize = async (application: ApplicationWithSecret, user: User, scope = 'api') =>
  forCode(application, await newCode(application, { scope }, user))
/** Issues a token as the password grant without a client does. */
const issueWithoutApplication = (isRefreshable: boolean) =>
  world.core.db.write((db) =>
    insertOAuthToken({ db, nowMs: world.clock.nowMs() }, world.core, {
      applicationId: undefined,
      userId: mira.id,
      scopes: ['api'],
      isRefreshable,
    }),
  )

const namesOf = async (user: User) =>
  (await world.perform(user, listAuthorizedApplications, {})).map(({ application }) => application?.name)
const revoke = (user: User, input: object) => world.perform(user, revokeAuthorizedApplication, input)

test('lists the applications with usable tokens of the caller, with the scopes of all tokens', async () => {
  expect(await namesOf(mira)).toEqual([])
  await authorize(board, mira, 'read_user')
  await world.clock.advance(HOUR_MS)
  await authorize(board, mira, 'api')
  await authorize(clock, noor)
  const { secret, ...application } = board
  expect(await world.perform(mira, listAuthorizedApplications, {})).toEqual([
    { application, scopes: ['api', 'read_user'], lastTokenAtMs: world.clock.nowMs() },
  ])
  expect(secret).toBeDefined()
  expect(await namesOf(noor)).toEqual(['Clock'])
})

test('a token that can be refreshed counts after it has expired; another one does not', async () => {
  await authorize(board, mira)
  await issueWithoutApplication(false)
  expect(await namesOf(mira)).toEqual([undefined, 'Deploy board'])
  await world.clock.advance(3 * HOUR_MS)
  expect(await namesOf(mira)).toEqual(['Deploy board'])
})

test('a token of the application itself is no access to an account', async () => {
  await grant({ grantType: 'client_credentials', ...credentials(board) })
  expect(await namesOf(mira)).toEqual([])
})

test('revoking ends tokens, refresh tokens and unused codes of the caller for this application only', async () => {
  const [mine, others, another] = [
    await authorize(board, mira),
    await authorize(board, noor),
    await authorize(clock, mira),
  ]
  const unused = await newCode(board)
  await revoke(mira, { applicationId: board.id })
  const states = await Promise.all([mine, others, another].map(({ accessToken }) => stateOf(accessToken)))
  expect(states).toEqual(['revoked', 'valid', 'valid'])
  await expect(refresh(mine.refreshToken)).rejects.toThrow('invalid_grant')
  await expect(forCode(board, unused)).rejects.toThrow('invalid_grant')
  expect([await namesOf(mira), await namesOf(noor)]).toEqual([['Clock'], ['Deploy board']])
})

test('tokens without an application are revoked together', async () => {
  const { accessToken } = await issueWithoutApplication(true)
  const { accessToken: ofBoard } = await authorize(board, mira)
  await revoke(mira, {})
  expect([await stateOf(accessToken), await stateOf(ofBoard)]).toEqual(['revoked', 'valid'])
})

test('records a revocation once, and ignores an application without access', async () => {
  await authorize(board, mira)
  await revoke(mira, { applicationId: board.id })
  await revoke(mira, { applicationId: board.id })
  await revoke(mira, { applicationId: 999 })
  const events = world.core.db.read.selectFrom('events').select(['object_id', 'details'])
  expect(await events.where('type', '=', 'user.application_revoked').execute()).toEqual([
    { object_id: mira.id, details: JSON.stringify({ applicationId: board.id }) },
  ])
})

test('a removed application is not listed, and anonymous callers have no list', async () => {
  await authorize(board, mira)
  await world.perform(root, removeApplication, { id: board.id })
  expect(await namesOf(mira)).toEqual([])
  const failure = (error: DomainError) => error.failure
  expect(await world.perform(undefined, listAuthorizedApplications, {}).catch(failure)).toEqual({
    code: 'unauthenticated',
  })
})
