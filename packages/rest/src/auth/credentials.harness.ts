import {
  accessLevels,
  createJobToken,
  createPersonalToken,
  createProjectToken,
  csrfTokenOf,
  grantToken,
  revokeJobToken,
  signIn,
  type User,
} from '@penstock/core'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect } from 'vitest'
import { RestError } from '../routing/rest-error.ts'
import { authenticate, type CredentialRequest, type EndpointAccess } from './authenticate.ts'

export const DAY_MS = 86_400_000
export let world: World
export let root: User
export let mira: User
/** Credentials by name. */
export let values: Record<string, string>

/** Gives each test a world with credentials of many kinds. */
export function withCredentials(): void {
  beforeEach(async () => {
    world = await World.open()
    root = await world.user('root', { isAdministrator: true })
    mira = await world.user('mira')
    await world.core.db.write((db) => db.updateTable('users').set({ password_hash: passwordHash }).execute())
    const project = await world.project('tools', await world.group('ops'))
    await world.member(project, mira, accessLevels.developer)
    const ended = await world.perform(root, createJobToken, { project: project.id, userId: mira.id })
    await world.perform(root, revokeJobToken, { id: ended.id })
    values = {
      mira: await personal(mira, ['api']),
      root: await personal(root, ['api']),
      rootSudo: await personal(root, ['sudo']),
      reader: await personal(mira, ['read_api']),
      bot: (await world.perform(root, createProjectToken, { project: project.id, name: 'ci', scopes: ['api'] })).value,
      job: (await world.perform(root, createJobToken, { project: project.id, userId: mira.id })).value,
      rootJob: (await world.perform(root, createJobToken, { project: project.id, userId: root.id })).value,
      endedJob: ended.value,
      oauth: await oauth(root, 'api'),
      oauthSudo: await oauth(root, 'sudo'),
      session: await session(mira),
      rootSession: await session(root),
      unknown: 'svcpat-0000000000000000000000000000000000000000000',
    }
    values.csrf = csrfTokenOf(values.session!)
  })

  afterEach(() => world.close())
}

export const personal = async (user: User, scopes: string[], more: object = {}) =>
  (await world.perform(root, createPersonalToken, { userId: user.id, name: 'ci', scopes, ...more })).value

export const password = 'correct horse'
/** A hash of `password` with cheap parameters. */
export const passwordHash =
  '$argon2id$v=19$m=1024,p=1,t=2$QUFBQUFBQUFBQUFBQUFBQQ$LthcQ44d3/9Q12bbVUAELoSTNWs0q1Rcx7tFAjyV5hU'

export async function oauth({ username }: User, scope: string): Promise<string> {
  const request = { grantType: 'password', username, password, scope, address: '::1' }
  return (await grantToken(world.core, request)).accessToken
}

export async function session({ username }: User): Promise<string> {
  const outcome = await signIn(world.core, { login: username, password, address: '::1' }, undefined)
  return outcome.kind === 'signed_in' ? outcome.sessionSecret : expect.unreachable()
}

export type RequestParts = Partial<CredentialRequest> & { readonly access?: Partial<EndpointAccess> }

/** Replaces `{mira}` in a header or parameter by the credential of that name. */
export const filled = (record: Readonly<Record<string, unknown>> = {}) =>
  Object.fromEntries(
    Object.entries(record).map(([name, text]) => [
      name,
      typeof text === 'string' ? text.replace(/\{(\w+)\}/g, (_, value: string) => values[value]!) : text,
    ]),
  )

export const ask = ({ method = 'GET', headers, parameters, access }: RequestParts) =>
  authenticate(
    world.core,
    { method, headers: filled(headers) as CredentialRequest['headers'], parameters: filled(parameters), source: '::1' },
    { scopes: [], takesJobTokens: false, authenticates: true, ...access },
  )

/** Returns the username, `anonymous`, or the status of the error. */
export const who = (request: RequestParts) =>
  ask(request).then(
    ({ actor }) => actor?.username.replace(/_[0-9a-f]{32}$/, '_hex') ?? 'anonymous',
    (error: RestError) => error.status,
  )
export const refusalOf = (request: RequestParts) =>
  ask(request).then(
    () => expect.unreachable(),
    (error) => {
      if (!(error instanceof RestError)) throw error
      for (const value of Object.values(values)) expect(JSON.stringify([error, error.stack])).not.toContain(value)
      return { status: error.status, body: error.body, header: error.headers['WWW-Authenticate'] }
    },
  )

export const jobs = { takesJobTokens: true }
