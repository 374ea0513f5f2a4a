import { accessLevels, type User } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Call, RestServer } from '../server/rest-server.harness.ts'
import { accessRequestsArea } from './access-requests.ts'

const BEGINS = '2026-02-03T04:05:06.789Z'

let world: World
let server: RestServer
let tokens: Record<'ines' | 'noor', string>
let noor: User

beforeEach(async () => {
  server = await RestServer.start({ areas: [accessRequestsArea] })
  world = server.world
  const ines = await world.user('ines')
  noor = await world.user('noor')
  tokens = { ines: await server.tokenOf(ines), noor: await server.tokenOf(noor) }
  const ops = await world.group('ops', { visibility: 'public' })
  await world.project('tools', ops, 'public')
  await world.member(ops, ines, accessLevels.owner)
})
afterEach(() => server.close())

const call = async (request: string, who: keyof typeof tokens, rest: Omit<Call, 'token'> = {}) => {
  const [method, path] = request.split(' ') as [string, string]
  const { status, body } = await server.call(method, path, { ...rest, token: tokens[who] })
  return [status, body]
}

test.each(['groups/ops', 'projects/ops%2Ftools'])('a request for access to %s', async (source) => {
  const all = `${source}/access_requests`
  const one = `${all}/${noor.id}`
  const user = {
    id: noor.id,
    username: 'noor',
    public_email: null,
    name: 'noor Holt',
    state: 'active',
    locked: false,
    avatar_url: null,
    web_url: `${world.core.settings.externalUrl}/noor`,
  }
  const forbidden = [403, { message: '403 Forbidden' }]
  const notFound = [404, { message: '404 Not found' }]

  expect(await call(`POST ${all}`, 'noor')).toEqual([201, { ...user, created_at: BEGINS, requested_at: BEGINS }])
  expect(await call(`POST ${all}`, 'noor')).toEqual([400, { message: { user_id: ['already exists in source'] } }])
  expect(await call(`POST ${all}`, 'ines')).toEqual(forbidden)
  expect(await call(`GET ${all}`, 'ines')).toEqual([200, [{ ...user, requested_at: BEGINS }]])
  expect(await call(`PUT ${one}/approve`, 'noor')).toEqual(forbidden)

  const changed = { headers: { 'if-unmodified-since': 'Tue, 03 Feb 2026 04:05:06 GMT' } }
  expect(await call(`DELETE ${one}`, 'ines', changed)).toEqual([412, { message: '412 Precondition Failed' }])
  expect(await call(`DELETE ${one}`, 'ines', { headers: { 'if-unmodified-since': 'soon' } })).toEqual([204, undefined])
  expect(await call(`DELETE ${one}`, 'noor')).toEqual(notFound)
  expect(await call(`PUT ${one}/approve`, 'ines')).toEqual(notFound)

  await call(`POST ${all}`, 'noor')
  const approve = (json: object) => call(`PUT ${one}/approve`, 'ines', { json })
  expect(await approve({ access_level: 7 })).toEqual([
    400,
    { message: { access_level: ['is not included in the list'] } },
  ])
  expect(await approve({ access_level: 'high' })).toEqual([400, { error: 'access_level is invalid' }])
  expect(await call(`PUT ${all}/noor/approve`, 'ines')).toEqual([400, { error: 'user_id is invalid' }])
  expect(await call(`DELETE ${all}/noor`, 'ines')).toEqual([400, { error: 'user_id is invalid' }])
  expect(await approve({ access_level: null })).toEqual([
    201,
    {
      ...user,
      access_level: 30,
      created_at: BEGINS,
      created_by: expect.objectContaining({ username: 'ines' }),
      expires_at: null,
      membership_state: 'active',
    },
  ])
  expect(await call(`GET ${all}`, 'ines')).toEqual([200, []])
  expect(await call(`DELETE ${one}`, 'ines')).toEqual(notFound)
})

test('a caller without a token hears 401, also about a parameter that is invalid', async () => {
  for (const request of ['GET ', 'POST ', 'PUT /x/approve', 'DELETE /x']) {
    const [method, rest] = request.split(' ') as [string, string]
    const reply = await server.call(method, `projects/1/access_requests${rest}`)
    expect([reply.status, reply.body]).toEqual([401, { message: '401 Unauthorized' }])
  }
})
