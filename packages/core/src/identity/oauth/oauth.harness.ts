import { World } from '@penstock/testkit'
import { afterEach, beforeEach } from 'vitest'
import type { User } from '../../base/model/user.ts'
import type { ApplicationWithSecret } from './application.ts'
import { createApplication } from './application-operations.ts'
import { type AuthorizationRequest, allowAuthorization, checkAuthorization } from './authorization.ts'
import { grantToken, type TokenRequest } from './grant-token.ts'
import type { OAuthRefusal } from './oauth-refusal.ts'
import { findOAuthToken } from './oauth-token.ts'

export const CALLBACK = 'https://board.example.test/cb'
/** RFC 7636, appendix B. */
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

export let world: World
export let root: User
export let mira: User
export let board: ApplicationWithSecret

/** Gives each test a world with an administrator, a user and an application. */
export function inOAuthWorld(): void {
  beforeEach(async () => {
    world = await World.open()
    root = await world.user('root', { isAdministrator: true })
    mira = await world.user('mira')
    board = await newApplication()
  })

  afterEach(() => world.close())
}

export const newApplication = (changes: object = {}) =>
  world.perform(root, createApplication, {
    name: 'Deploy board',
    redirectUri: CALLBACK,
    scopes: 'api read_user',
    ...changes,
  })
export const credentials = ({ uid, secret }: ApplicationWithSecret) => ({ clientId: uid, clientSecret: secret })
export const grant = (request: Partial<TokenRequest>) => grantToken(world.core, { address: '192.0.2.7', ...request })
export const code = (refusal: OAuthRefusal) => refusal.code
export const find = async (accessToken: string) => findOAuthToken(world.core, accessToken)
export const stateOf = async (accessToken: string) => (await find(accessToken))?.state

export async function newCode(
  application: ApplicationWithSecret,
  changes: Partial<AuthorizationRequest> = {},
  user: User = mira,
): Promise<string> {
  const checked = await checkAuthorization(world.core, {
    clientId: application.uid,
    redirectUri: CALLBACK,
    responseType: 'code',
    ...changes,
  })
  if (checked.kind === 'refused') throw checked.refusal
  return allowAuthorization(world.core, user.id, checked.authorization)
}

export const forCode = (application: ApplicationWithSecret, text: string, changes: Partial<TokenRequest> = {}) =>
  grant({ grantType: 'authorization_code', ...credentials(application), code: text, redirectUri: CALLBACK, ...changes })
export const refresh = (refreshToken: string | undefined, changes: Partial<TokenRequest> = {}) =>
  grant({ grantType: 'refresh_token', ...credentials(board), refreshToken, ...changes })

export const setState = (state: 'blocked') =>
  world.core.db.write((db) => db.updateTable('users').set({ state }).where('id', '=', mira.id).execute())
