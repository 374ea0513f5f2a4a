import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Called, IngestAuthWorld } from './ingest-auth-world.ts'

const HOUR_MS = 3_600_000

let world: IngestAuthWorld
beforeEach(async () => {
  world = await IngestAuthWorld.open()
})
afterEach(() => world.close())

const create = (key: string | string[], as = 'Admin', json: unknown = { name: 'ci' }): Promise<Called> =>
  world.call('POST', '/tokens', { as, json, headers: { 'idempotency-key': key } })
const tokenCount = async () => (await world.call('GET', '/tokens')).json.length

describe('A-8', () => {
  test('a replay creates nothing, and shows no token', async () => {
    const first = await create('k1')
    const replay = await create('k1')
    expect([first.status, replay.status]).toEqual([201, 200])
    expect(replay.json).toMatchObject({ code: 'already_created', id: first.json.id, name: 'ci', status: 'valid' })
    expect(replay.text).not.toContain('psin_')
    expect(await tokenCount()).toBe(1)
  })

  test('only one of many concurrent requests creates a token', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create('k1')))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 200, 200, 201])
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(1)
    expect(await tokenCount()).toBe(1)
  })

  test('a key belongs to its caller', async () => {
    expect([(await create('k1')).status, (await create('k1', 'Editor')).status]).toEqual([201, 201])
  })

  test('a key is remembered for 24 h', async () => {
    await create('k1')
    await world.clock.advance(24 * HOUR_MS - 1)
    expect((await create('k1')).status).toBe(200)
    await world.clock.advance(1)
    expect((await create('k1')).status).toBe(201)
  })

  test('a rejected request does not use up its key', async () => {
    expect((await create('k1', 'Admin', { name: '' })).status).toBe(400)
    expect((await create('k1')).status).toBe(201)
  })

  test('a replay does not create a token again that was revoked in the meantime', async () => {
    const { id } = (await create('k1')).json
    await world.call('DELETE', `/tokens/${id}`)
    const replay = await create('k1')
    expect([replay.status, replay.json.id, replay.json.code]).toEqual([200, id, 'already_created'])
    expect(await tokenCount()).toBe(0)
  })

  test('the same key is independent at another path', async () => {
    const { id } = (await create('k1')).json
    const rotate = () => world.call('POST', `/tokens/${id}/rotate`, { headers: { 'idempotency-key': 'k1' } })
    const rotated = await rotate()
    expect(rotated.status).toBe(201)
    const replay = await rotate()
    expect(replay.json).toMatchObject({ code: 'already_created', id: rotated.json.id, supersedes: id })
    expect(await tokenCount()).toBe(2)
  })

  test('an API key is created only once too', async () => {
    const make = () =>
      world.call('POST', '/api/v1/api_keys', {
        json: { name: 'bot', role: 'Viewer' },
        headers: { 'idempotency-key': 'k1' },
      })
    const first = await make()
    const replay = await make()
    expect([first.status, replay.status, replay.json.id, replay.json.key]).toEqual([201, 200, first.json.id, undefined])
    await world.call('DELETE', `/api/v1/api_keys/${first.json.id}`)
    expect((await make()).json).toEqual({ id: first.json.id, code: 'already_created' })
  })

  test('rejects an invalid Idempotency-Key', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256), ['a', 'b']]) {
      const answer = await create(key)
      expect([answer.status, answer.json.error.details[0].field]).toEqual([400, 'Idempotency-Key'])
    }
  })

  test('does not store keys in plain text', async () => {
    await create('remember-me')
    expect(world.fileBytes().some((bytes) => bytes.includes('remember-me'))).toBe(false)
  })
})
