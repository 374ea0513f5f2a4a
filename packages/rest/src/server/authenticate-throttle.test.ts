import { createPersonalToken, type User } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { usersArea } from '../areas/users.ts'
import { RestServer } from './rest-server.harness.ts'

let world: World
let server: RestServer
let root: User
let mira: User
let token: string

beforeEach(async () => {
  const rateLimits = { anonymous: { count: 2, periodSeconds: 60 }, authenticated: { count: 3, periodSeconds: 60 } }
  server = await RestServer.start({ areas: [usersArea], rateLimits })
  world = server.world
  root = await world.user('root', { isAdministrator: true })
  mira = await world.user('mira')
  token = await server.tokenOf(root, ['api', 'sudo'])
})

afterEach(() => server.close())

/** Returns the status, the throttle that counted the request, and its count. */
async function call(path: string, init: RequestInit = {}) {
  const response = await fetch(`${server.url}/api/v4${path}`, init)
  await response.text()
  const name = response.headers.get('ratelimit-name')?.replace(/^throttle_|_api$/g, '')
  return [response.status, name, response.headers.get('ratelimit-observed')]
}
const inBody = (fields: Record<string, string>) => ({ method: 'POST', body: new URLSearchParams(fields) })

test('a credential in the body is counted for the user and not for the address', async () => {
  const block = () => call(`/users/${mira.id}/block`, inBody({ private_token: token }))
  for (const count of ['1', '2', '3']) expect(await block()).toEqual([201, 'authenticated', count])
  expect(await block()).toEqual([429, 'authenticated', '4'])
  expect(await call('/users?username=mira')).toEqual([200, 'unauthenticated', '1'])
})

test('an unknown credential in the body is counted for the address', async () => {
  const guess = () => call(`/users/${mira.id}/block`, inBody({ private_token: 'guess' }))
  expect(await guess()).toEqual([401, 'unauthenticated', '1'])
  expect(await guess()).toEqual([401, 'unauthenticated', '2'])
  expect((await guess())[0]).toBe(429)
})

test('with sudo, requests are counted for the administrator', async () => {
  const as = (sudo: string) => call('/user', { headers: { 'private-token': token, sudo } })
  const counts = [await as('mira'), await as('root'), await call('/user', { headers: { 'private-token': token } })]
  expect(counts).toEqual(['1', '2', '3'].map((count) => [200, 'authenticated', count]))
  expect((await as('mira'))[0]).toBe(429)
})

test('a valid credential that lacks a scope or may not use sudo is counted for its user', async () => {
  const reader = (
    await world.perform(root, createPersonalToken, { userId: mira.id, name: 'ci', scopes: ['read_user'] })
  ).value
  const refused = () => call('/users', { method: 'POST', headers: { 'private-token': reader } })
  expect(await refused()).toEqual([403, 'authenticated', '1'])
  expect(await call('/user', { headers: { 'private-token': reader, sudo: 'root' } })).toEqual([
    ...[403, 'authenticated', '2'],
  ])
  expect(await call('/users', inBody({ private_token: reader }))).toEqual([403, 'authenticated', '3'])
  expect(await refused()).toEqual([429, 'authenticated', '4'])
  expect(await call('/user', { headers: { 'private-token': token, sudo: 'ghost' } })).toEqual([
    404,
    'authenticated',
    '1',
  ])
  expect(await call('/users?username=mira')).toEqual([200, 'unauthenticated', '1'])
})

test.each(['sudo[]=mira', 'sudo[a]=mira', 'sudo=mira&sudo=root'])(
  '?%s never runs as the administrator',
  async (query) => {
    const response = await fetch(`${server.url}/api/v4/user?${query}`, { headers: { 'private-token': token } })
    expect([response.status, await response.json()]).toEqual([400, { error: 'sudo is invalid' }])
  },
)
