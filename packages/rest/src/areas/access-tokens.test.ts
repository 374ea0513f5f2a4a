import { accessLevels, ensureRootToken, type User } from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Call, RestServer } from '../server/rest-server.harness.ts'
import { accessTokensArea } from './access-tokens.ts'

let world: World
let server: RestServer
let rootToken: string
let mira: User

beforeEach(async () => {
  server = await RestServer.start({ areas: [accessTokensArea] })
  world = server.world
  rootToken = (await ensureRootToken(world.core))!
  mira = await world.user('mira')
})

afterEach(() => server.close())

async function call(method: string, path: string, { json, token = rootToken }: Call = {}) {
  const { status, body } = await server.call(method, path, { json, token })
  return { status, body }
}

const forMira = async (json: object = {}) =>
  (await call('POST', `users/${mira.id}/personal_access_tokens`, { json: { name: 'ci', scopes: ['api'], ...json } }))
    .body

test('creates, shows, rotates, revokes and lists personal tokens', async () => {
  const { token, ...shown } = await forMira({
    scopes: ['self_rotate'],
    expires_at: '2026-03-01',
    description: 'nightly',
  })
  expect(shown).toEqual({
    id: 2,
    name: 'ci',
    revoked: false,
    created_at: '2026-02-03T04:05:06.789Z',
    description: 'nightly',
    scopes: ['self_rotate'],
    user_id: mira.id,
    last_used_at: null,
    active: true,
    expires_at: '2026-03-01',
  })
  expect(await call('GET', 'personal_access_tokens/2')).toMatchObject({ status: 200, body: shown })
  expect(await call('GET', 'personal_access_tokens/self', { token })).toMatchObject({ status: 200, body: { id: 2 } })
  expect(await call('GET', 'personal_access_tokens', { token })).toMatchObject({ status: 403 })
  const next = await call('POST', 'personal_access_tokens/self/rotate', { token })
  expect(next).toMatchObject({ status: 200, body: { id: 3, expires_at: '2026-02-10', active: true } })
  const own = { token: next.body.token }
  expect(await call('DELETE', 'personal_access_tokens/self', own)).toEqual({ status: 204, body: undefined })
  expect(await call('GET', 'personal_access_tokens/self', own)).toMatchObject({ status: 401 })
  const { body } = await call('GET', `personal_access_tokens?user_id=${mira.id}&revoked=true&sort=created_desc`)
  expect(body.map(({ id, active, token }: Record<string, unknown>) => ({ id, active, token }))).toEqual([
    { id: 3, active: false, token: undefined },
    { id: 2, active: false, token: undefined },
  ])
})

test.each([
  [{ scopes: ['everything'] }, { error: 'scopes does not have a valid value' }],
  [{ name: undefined }, { error: 'name is missing' }],
  [{ scopes: ['sudo'] }, { message: { scopes: ['can only contain available scopes'] } }],
  [{ expires_at: '2028-01-01' }, { message: { expires_at: ['must be before 2027-02-04'] } }],
  [{ expires_at: 'soon' }, { error: 'expires_at is invalid' }],
])('rejects a token with %j', async (fields, expected) => {
  expect(await forMira(fields)).toEqual(expected)
})

test('only administrators can create and see impersonation tokens', async () => {
  const { token: mine } = await forMira()
  const path = `users/${mira.id}/impersonation_tokens`
  const json = { name: 'ghost', scopes: ['api'] }
  expect(await call('POST', path, { json, token: mine })).toEqual({ status: 403, body: { message: '403 Forbidden' } })
  const made = await call('POST', path, { json })
  expect(made).toMatchObject({ status: 201, body: { impersonation: true, user_id: mira.id } })
  const { id, token } = made.body
  expect(await call('GET', 'personal_access_tokens/self', { token })).toMatchObject({ body: { id } })
  const { body } = await call('GET', 'personal_access_tokens', { token: mine })
  expect(body).toHaveLength(1)
  expect(await call('GET', `${path}?state=active`)).toMatchObject({ body: [{ id }] })
  expect((await call('DELETE', `${path}/${id}`)).status).toBe(204)
  expect(await call('GET', `${path}/${id}`)).toMatchObject({ body: { revoked: true, active: false } })
  const unknown = { status: 404, body: { message: '404 Impersonation Token Not Found' } }
  expect(await call('GET', `${path}/99`)).toEqual(unknown)
})

test.each(['project', 'group'] as const)('creates, rotates and revokes access tokens of a %s', async (kind) => {
  const group = await world.group('ops')
  const subject = kind === 'group' ? group : await world.project('tools', group)
  await world.member(subject, mira, accessLevels.owner)
  const path = kind === 'group' ? 'groups/ops/access_tokens' : 'projects/ops%2Ftools/access_tokens'
  const { token: mine } = await forMira()
  const json = { name: 'bot', scopes: ['self_rotate'], access_level: 30 }
  const made = await call('POST', path, { json, token: mine })
  const resource = { access_level: 30, resource_type: kind, resource_id: subject.id }
  expect(made).toMatchObject({ status: 201, body: resource })
  const next = await call('POST', `${path}/self/rotate`, { token: made.body.token })
  expect(next).toMatchObject({ status: 200, body: resource })
  const again = await call('POST', `${path}/${next.body.id}/rotate`, {
    token: mine,
    json: { expires_at: '2026-02-20' },
  })
  expect(again).toMatchObject({ status: 200, body: { expires_at: '2026-02-20' } })
  expect(await call('GET', `${path}/${again.body.id}`)).toMatchObject({ status: 200, body: resource })
  expect((await call('DELETE', `${path}/${again.body.id}`, { token: mine })).status).toBe(204)
  expect((await call('GET', `${path}?state=active`)).body).toEqual([])
  expect(await call('GET', `${path}/1`)).toEqual({ status: 404, body: { message: '404 Not found' } })
})
