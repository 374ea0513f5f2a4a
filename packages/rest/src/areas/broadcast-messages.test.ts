import { expect, test } from 'vitest'
import { server, token, withAdministeredServer } from '../server/administered-server.harness.ts'

const HOUR_MS = 3_600_000

withAdministeredServer()

const create = (json: object) => server.call('POST', 'broadcast_messages', { token, json })
const update = (json: object) => server.call('PUT', 'broadcast_messages/1', { token, json })
const iso = (afterMs: number) => new Date(server.world.clock.nowMs() + afterMs).toISOString()

test('a message has the members of GitLab, with times in UTC', async () => {
  const { status, body } = await create({
    ...{ message: 'Maintenance on Sunday', starts_at: '2026-02-03 04:00', ends_at: '2026-02-03T07:00:00+02:00' },
    ...{ target_access_levels: [30, 40], target_path: '*/welcome' },
  })
  expect(status).toBe(201)
  expect(Object.entries(body)).toEqual([
    ['id', 1],
    ['message', 'Maintenance on Sunday'],
    ['starts_at', '2026-02-03T04:00:00.000Z'],
    ['ends_at', '2026-02-03T05:00:00.000Z'],
    ['color', '#E75E40'],
    ['font', '#FFFFFF'],
    ['target_access_levels', [30, 40]],
    ['target_path', '*/welcome'],
    ['broadcast_type', 'banner'],
    ['theme', 'indigo'],
    ['dismissable', false],
    ['active', true],
  ])
})

test('whether it is active follows from the time of the request', async () => {
  expect((await create({ message: 'Now', active: false })).body).toMatchObject({
    ...{ starts_at: iso(0), ends_at: iso(HOUR_MS), active: true },
  })
  const isActive = async () => (await server.call('GET', 'broadcast_messages/1')).body.active
  await server.world.clock.advance(HOUR_MS)
  expect(await isActive()).toBe(true)
  await server.world.clock.advance(1)
  expect(await isActive()).toBe(false)
})

test('anyone reads, and credentials are not looked at', async () => {
  for (const message of ['one', 'two', 'three']) await create({ message, target_access_levels: '50' })
  for (const caller of [undefined, 'unknown-token']) {
    const list = await server.call('GET', 'broadcast_messages?per_page=2', { token: caller })
    expect([list.status, list.headers.get('x-total'), list.headers.get('x-next-page')]).toEqual([200, '3', '2'])
    expect(list.body.map(({ message }: { message: string }) => message)).toEqual(['three', 'two'])
    expect((await server.call('GET', 'broadcast_messages/1', { token: caller })).body.target_access_levels).toEqual([
      50,
    ])
  }
  expect(await server.call('GET', 'broadcast_messages/9')).toMatchObject({
    status: 404,
    body: { message: '404 Not found' },
  })
})

test('anonymous callers and users are refused before their parameters', async () => {
  const mira = await server.tokenOf(await server.world.user('mira'))
  for (const [caller, status] of [
    [undefined, 401],
    [mira, 403],
  ] as const) {
    expect((await server.call('POST', 'broadcast_messages', { token: caller, json: {} })).status).toBe(status)
    expect((await server.call('PUT', 'broadcast_messages/x', { token: caller })).status).toBe(status)
    expect((await server.call('DELETE', 'broadcast_messages/9', { token: caller })).status).toBe(status)
  }
})

test.each([
  [{}, { error: 'message is missing' }],
  [{ message: '' }, { message: { message: ["can't be blank"] } }],
  [{ message: null }, { message: { message: ["can't be blank"] } }],
  [{ message: 'x', starts_at: 'soon' }, { error: 'starts_at is invalid' }],
  [{ message: 'x', ends_at: 5 }, { error: 'ends_at is invalid' }],
  [{ message: 'x', theme: 'pink' }, { error: 'theme does not have a valid value' }],
  [{ message: 'x', broadcast_type: 'popup' }, { error: 'broadcast_type does not have a valid value' }],
  [{ message: 'x', target_access_levels: [5] }, { error: 'target_access_levels does not have a valid value' }],
  [{ message: 'x', target_access_levels: '30,60' }, { error: 'target_access_levels does not have a valid value' }],
  [{ message: 'x', dismissable: 'perhaps' }, { error: 'dismissable is invalid' }],
  [{ message: 'x', font: 'white' }, { message: { font: ['must be a valid color code'] } }],
])('refuses %j', async (json, body) => {
  expect(await create(json)).toMatchObject({ status: 400, body })
})

test.each([
  ['JSON', 'application/json', '{"message":"x","target_access_levels":[25,10]}'],
  ['comma-separated', 'application/json', '{"message":"x","target_access_levels":"25, 10"}'],
  ['a form', 'application/x-www-form-urlencoded', 'message=x&target_access_levels[]=25&target_access_levels[]=10'],
  ['a repeated key', 'application/x-www-form-urlencoded', 'message=x&target_access_levels=25&target_access_levels=10'],
])('takes roles as %s', async (_name, type, text) => {
  const { body } = await server.call('POST', 'broadcast_messages', { token, text, headers: { 'content-type': type } })
  expect(body.target_access_levels).toEqual([25, 10])
})

test('an empty change is accepted; null removes no time', async () => {
  const { body } = await create({ message: 'x', theme: 'light-red', dismissable: true })
  expect(await update({})).toMatchObject({ status: 200, body })
  expect((await update({ theme: 'dark', target_access_levels: [15] })).body).toEqual({
    ...body,
    ...{ theme: 'dark', target_access_levels: [15] },
  })
  expect(await update({ starts_at: null })).toMatchObject({
    status: 400,
    body: { message: { starts_at: ["can't be blank"] } },
  })
  expect(await update({ ends_at: '' })).toMatchObject({
    status: 400,
    body: { message: { ends_at: ["can't be blank"] } },
  })
})

test('a message that changed is not deleted with an older If-Unmodified-Since', async () => {
  await create({ message: 'x' })
  const remove = (since: string) =>
    server.call('DELETE', 'broadcast_messages/1', { token, headers: { 'if-unmodified-since': since } })
  const before = new Date(server.world.clock.nowMs() - 10_000).toUTCString()
  expect(await remove(before)).toMatchObject({ status: 412, body: { message: '412 Precondition Failed' } })
  expect(await remove('yesterday')).toMatchObject({ status: 204, body: undefined })
  expect((await remove('yesterday')).status).toBe(404)
})
