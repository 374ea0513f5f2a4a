import { accessLevels } from '@penstock/core'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'

let server: RestServer
let token: string
let root: string

beforeEach(async () => {
  server = await RestServer.start({ world: await World.open() })
  const { world } = server
  const mira = await world.user('mira')
  token = await server.tokenOf(mira)
  root = await server.tokenOf(await world.user('root', { isAdministrator: true }))
  const ops = await world.group('ops')
  await world.member(ops, mira, accessLevels.owner)
  await world.project('tools', ops, 'public')
})

afterEach(() => server.close())

const call = async (request: string, json?: object, as: string | undefined = token) => {
  const [method, path] = request.split(' ') as [string, string]
  const { status, body } = await server.call(method, path, { token: as, ...(json && { json }) })
  return [status, body]
}
const draft = { name: 'registry', scopes: ['write_registry', 'read_registry', 'read_registry'] }
const shown = {
  id: 1,
  name: 'registry',
  username: 'svc+deploy-token-1',
  expires_at: null,
  scopes: ['read_registry', 'write_registry'],
  revoked: false,
  expired: false,
}

describe.each(['projects/ops%2Ftools', 'groups/ops'])('the deploy tokens of %s', (parent) => {
  const all = `${parent}/deploy_tokens`

  test('show their value once, and are gone when they are revoked', async () => {
    const issued = { ...shown, token: expect.stringMatching(/^svcdt-[0-9A-Za-z]{43}$/) }
    expect(await call(`POST ${all}`, draft)).toEqual([201, issued])
    expect(await call(`GET ${all}`)).toEqual([200, [shown]])
    expect(await call(`GET ${all}/1`)).toEqual([200, shown])
    expect(await call('GET deploy_tokens', undefined, root)).toEqual([200, [shown]])
    expect(await call('GET deploy_tokens')).toEqual([403, { message: '403 Forbidden' }])
    const other = parent === 'groups/ops' ? 'projects/1' : 'groups/1'
    for (const request of [`GET ${other}/deploy_tokens/1`, `DELETE ${other}/deploy_tokens/1`])
      expect(await call(request)).toEqual([404, { message: '404 Not found' }])
    expect(await call(`DELETE ${all}/1`)).toEqual([204, undefined])
    expect(await call(`GET ${all}`)).toEqual([200, []])
    expect(await call(`DELETE ${all}/1`)).toEqual([404, { message: '404 Not found' }])
  })

  test('expire at their time, which the filter `active` follows', async () => {
    const expiring = { ...draft, username: 'ci.bot+1', expires_at: '2026-02-05', scopes: 'read_repository' }
    const [status, body] = await call(`POST ${all}`, expiring)
    const times = { expires_at: '2026-02-05T00:00:00.000Z', username: 'ci.bot+1', scopes: ['read_repository'] }
    expect([status, body]).toMatchObject([201, times])
    await call(`POST ${all}`, draft)
    const ids = async (query: string) =>
      ((await call(`GET ${all}${query}`))[1] as { id: number; expired: boolean }[]).map(({ id, expired }) => [
        id,
        expired,
      ])
    const both = [
      [1, false],
      [2, false],
    ]
    expect([await ids(''), await ids('?active=true')]).toEqual([both, both])
    await server.world.clock.advance(Date.parse('2026-02-05') - server.world.clock.nowMs())
    expect(await ids('?active=true')).toEqual([[2, false]])
    expect(await ids('?active=false')).toEqual([
      [1, true],
      [2, false],
    ])
    expect((await call(`GET deploy_tokens?active=true`, undefined, root))[1]).toMatchObject([{ id: 2 }])
  })
})

const username = "Username can contain only letters, digits, '_', '-', '+', and '.'"
test.each([
  [{}, { error: 'name is missing, scopes is missing' }],
  [{ ...draft, scopes: [] }, { error: 'scopes is empty' }],
  [{ ...draft, scopes: ['api'] }, { error: 'scopes does not have a valid value' }],
  [{ ...draft, expires_at: 'soon' }, { error: 'expires_at is invalid' }],
  [{ ...draft, name: ' ' }, { message: "Name can't be blank" }],
  [{ ...draft, name: 'n'.repeat(256) }, { message: 'Name is too long (maximum is 255 characters)' }],
  [{ ...draft, username: 'a b' }, { message: username }],
])('creating a token with %j is refused', async (json, body) => {
  expect(await call('POST projects/1/deploy_tokens', json)).toEqual([400, body])
})

test('the scopes are no filter, and the number of tokens is limited', async () => {
  expect((await call('GET projects/1/deploy_tokens?scopes=read_registry'))[0]).toBe(400)
  const row = { project_id: 1, name: 'x', scopes: '["read_registry"]', digest: '', created_at_ms: 0 }
  await server.world.core.db.write((db) => db.insertInto('deploy_tokens').values(Array(1_000).fill(row)).execute())
  const message = 'Maximum number of project deploy tokens (1000) exceeded'
  expect(await call('POST projects/1/deploy_tokens', draft)).toEqual([400, { message }])
  expect((await call('POST groups/1/deploy_tokens', draft))[0]).toBe(201)
})

test('no request is authenticated with a deploy token', async () => {
  const [, issued] = (await call('POST groups/1/deploy_tokens', draft)) as [number, { token: string; username: string }]
  const basic = `Basic ${Buffer.from(`${issued.username}:${issued.token}`).toString('base64')}`
  const status = async (path: string, headers: Record<string, string> = {}) =>
    (await fetch(`${server.url}/api/v4/${path}`, { headers })).status
  const unknown: [string, Record<string, string>?][] = [
    ['projects/1', { 'private-token': issued.token }],
    ['projects/1', { authorization: `Bearer ${issued.token}` }],
    [`projects/1?private_token=${issued.token}`],
  ]
  for (const [path, headers] of unknown) expect([path, await status(path, headers)]).toEqual([path, 401])
  // These headers are not read, so that the caller is anonymous.
  for (const headers of [{ 'deploy-token': issued.token }, { authorization: basic }]) {
    expect(await status('projects/1', headers)).toBe(200)
    expect(await status('projects/1/deploy_tokens', headers)).toBe(401)
  }
  const rows = await server.world.core.db.read.selectFrom('deploy_tokens').selectAll().execute()
  const events = await server.world.core.db.read.selectFrom('events').selectAll().execute()
  expect(JSON.stringify([rows, events])).not.toContain(issued.token)
})
