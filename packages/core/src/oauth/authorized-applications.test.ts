import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../kit/domain-error.ts'
import type { User } from '../model/user.ts'
import type { ApplicationWithSecret } from './application.ts'
import { createApplication, removeApplication } from './application-operations.ts'
import { allowAuthorization, checkAuthorization } from './authorization.ts'
import { listAuthorizedApplications, revokeAuthorizedApplication } from './authorized-application-operations.ts'
import { grantToken, type TokenRequest } from './grant-token.ts'
import { findOAuthToken } from './oauth-token.ts'
import { insertOAuthToken } from './oauth-token-store.ts'

const CALLBACK = 'https://board.example.test/cb'
const HOUR_MS = 3_600_000

let world: World
let root: User
let mira: User
let noor: User
let board: ApplicationWithSecret
let clock: ApplicationWithSecret

beforeEach(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  noor = await world.user('noor')
  board = await newApplication('Board')
  clock = await newApplication('Clock')
})

afterEach(() => world.close())

const newApplication = (name: string) =>
  world.perform(root, createApplication, { name, redirectUri: CALLBACK, scopes: 'api read_user' })
const grant = (request: Partial<TokenRequest>) => grantToken(world.core, { address: '192.0.2.7', ...request })
const credentials = ({ uid, secret }: ApplicationWithSecret) => ({ clientId: uid, clientSecret: secret })

async function newCode(application: ApplicationWithSecret, user: User, scope: string): Promise<string> {
  const request = { clientId: application.uid, redirectUri: CALLBACK, responseType: 'code', scope }
  const checked = await checkAuthorization(world.core, request)
  if (checked.kind === 'refused') throw checked.refusal
  return allowAuthorization(world.core, user.id, checked.authorization)
}

const exchange = (application: ApplicationWithSecret, code: string) =>
  grant({ grantType: 'authorization_code', ...credentials(application), code, redirectUri: CALLBACK })
const authorize = async (application: ApplicationWithSecret, user: User, scope = 'api') =>
  exchange(application, await newCode(application, user, scope))
const refresh = (application: ApplicationWithSecret, refreshToken: string | undefined) =>
  grant({ grantType: 'refresh_token', ...credentials(application), refreshToken, redirectUri: CALLBACK })
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
const stateOf = async (accessToken: string) => (await findOAuthToken(world.core, accessToken))?.state
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
  expect(await namesOf(mira)).toEqual([undefined, 'Board'])
  await world.clock.advance(3 * HOUR_MS)
  expect(await namesOf(mira)).toEqual(['Board'])
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
  const unused = await newCode(board, mira, 'api')
  await revoke(mira, { applicationId: board.id })
  const states = await Promise.all([mine, others, another].map(({ accessToken }) => stateOf(accessToken)))
  expect(states).toEqual(['revoked', 'valid', 'valid'])
  await expect(refresh(board, mine.refreshToken)).rejects.toThrow('invalid_grant')
  await expect(exchange(board, unused)).rejects.toThrow('invalid_grant')
  expect([await namesOf(mira), await namesOf(noor)]).toEqual([['Clock'], ['Board']])
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
