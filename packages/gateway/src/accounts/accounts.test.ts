import { randomBytes } from 'node:crypto'
import { jsonLog, silentLog } from '@penstock/runtime'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConfigError } from '../contract/config-error.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { START_MS, TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { createToken } from '../tokens/token-operations.ts'
import {
  authenticateApiKey,
  createApiKey,
  ensureFirstAdminKey,
  listApiKeys,
  revokeApiKey,
} from './api-key-operations.ts'
import { listAudit, purgeAudit } from './audit-log.ts'

let gateway: TemporaryGateway
let admin: OperationContext

beforeEach(async () => {
  gateway = await TemporaryGateway.open()
  admin = gateway.as('Admin')
})
afterEach(() => gateway.close())

const authenticate = (value: string) => authenticateApiKey({ ...gateway, log: silentLog }, value, gateway.clock.nowMs())
const ensure = (configuredKey?: string) =>
  ensureFirstAdminKey(gateway.db, gateway.peppers, { configuredKey, nowMs: gateway.clock.nowMs(), randomBytes })

describe('API keys', () => {
  test('createApiKey returns the key once; lists show only its name and role', async () => {
    const created = await createApiKey(admin, { name: 'dashboards', role: 'Viewer' })
    expect(created).toEqual({
      id: expect.stringMatching(/^[0-9A-Za-z]{12}$/),
      name: 'dashboards',
      role: 'Viewer',
      created_at: '2026-11-21T07:00:00Z',
      created_by: 'key-Admin',
      expires_at: null,
      last_used_at: null,
      key: expect.stringMatching(new RegExp(`^psak_${created.id}_[0-9A-Za-z]{49}$`)),
    })
    const { key, ...listed } = created
    expect(await listApiKeys(admin)).toEqual([listed])
    expect(await authenticate(key)).toEqual({ id: created.id, name: 'dashboards', role: 'Viewer' })
    expect(await listApiKeys(admin)).toMatchObject([{ last_used_at: '2026-11-21T07:00:00Z' }])
  })

  test('rejects an expired or revoked key', async () => {
    await ensure()
    const expiring = await createApiKey(admin, { name: 'a', role: 'Admin', expires_at: '2026-11-21T08:00:00Z' })
    const { id, key } = await createApiKey(admin, { name: 'b', role: 'Editor' })
    await revokeApiKey(admin, { id })
    expect(await authenticate(key)).toBeUndefined()
    expect(await authenticate(expiring.key)).toBeDefined()
    await gateway.clock.advance(3_600_000)
    expect(await authenticate(expiring.key)).toBeUndefined()
  })

  test('accepts a key while the store cannot be written, and logs that its last use was not recorded', async () => {
    const { key } = await createApiKey(admin, { name: 'a', role: 'Viewer' })
    const lines: string[] = []
    const log = jsonLog({ write: (line) => lines.push(line) }, () => 0)
    const db = { ...gateway.db, write: () => Promise.reject(new Error('database or disk is full')) }
    const actor = await authenticateApiKey({ db, peppers: gateway.peppers, log }, key, START_MS)
    expect(actor).toMatchObject({ name: 'a', role: 'Viewer' })
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'api_key.untouched', error: 'database or disk is full' },
    ])
    expect(await listApiKeys(admin)).toMatchObject([{ last_used_at: null }])
  })

  test('T-18: rejects an ingest token', async () => {
    const { token } = await createToken(admin, { name: 'ci' })
    expect(await authenticate(token)).toBeUndefined()
  })

  test('rejects unknown keys and texts that cannot be a key', async () => {
    await ensure()
    for (const value of ['', 'x', 'x'.repeat(20), 'x'.repeat(257), `${'x'.repeat(30)}\n`]) {
      expect(await authenticate(value)).toBeUndefined()
    }
  })

  test('refuses to revoke the last Admin key, and audits the attempt', async () => {
    await createApiKey(admin, { name: 'editor', role: 'Editor' })
    await createApiKey(admin, { name: 'ends', role: 'Admin', expires_at: '2026-11-21T08:00:00Z' })
    const { id } = await createApiKey(admin, { name: 'last', role: 'Admin' })
    await gateway.clock.advance(3_600_000)
    await expect(revokeApiKey(admin, { id })).rejects.toMatchObject({
      code: 'last_admin_key',
      details: { api_key_id: id },
    })
    const names = async () => (await listAudit(admin, { limit: '1' })).events.map(({ event }) => event)
    expect(await names()).toEqual(['api_key.revoke_refused'])
    await createApiKey(admin, { name: 'another', role: 'Admin' })
    await revokeApiKey(admin, { id })
    expect(await names()).toEqual(['api_key.revoked'])
  })

  test('keeps one of two Admin keys that two processes revoke concurrently', async () => {
    const other = gateway.as('Admin', {}, await gateway.openAnother())
    const { id: first } = await createApiKey(admin, { name: 'first', role: 'Admin' })
    const { id: second } = await createApiKey(admin, { name: 'second', role: 'Admin' })
    const outcomes = await Promise.allSettled([revokeApiKey(admin, { id: first }), revokeApiKey(other, { id: second })])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await listApiKeys(admin)).toHaveLength(1)
  })

  test.each([
    [{ name: 'a' }, 'invalid_field', [{ field: 'role', problem: 'required' }]],
    [
      { name: 'a', role: 'Owner' },
      'invalid_field',
      [{ field: 'role', problem: 'not_one_of', allowed: ['Viewer', 'Editor', 'Admin'] }],
    ],
    [{ name: 'a', role: 'Admin', key: 'x' }, 'unknown_field', [{ field: 'key', problem: 'unknown' }]],
  ])('createApiKey refuses %j', async (body, code, details) => {
    await expect(createApiKey(admin, body)).rejects.toMatchObject({ code, details })
  })

  test.each(['Viewer', 'Editor'] as const)('a %s may neither manage API keys nor read the audit log', async (role) => {
    const context = gateway.as(role)
    const forbidden = { code: 'forbidden', details: { role, needed: ['Admin'] } }
    await expect(createApiKey(context, {})).rejects.toMatchObject(forbidden)
    await expect(listApiKeys(context)).rejects.toMatchObject(forbidden)
    await expect(revokeApiKey(context, { id: 'x' })).rejects.toMatchObject(forbidden)
    await expect(listAudit(context, { bad: '1' })).rejects.toMatchObject(forbidden)
  })
})

describe('A-7: the first Admin key', () => {
  test('is created once, however many processes start', async () => {
    const other = await gateway.openAnother()
    const made = await Promise.all([
      ensure(),
      ensureFirstAdminKey(other, gateway.peppers, { nowMs: START_MS, randomBytes }),
      ensure(),
    ])
    const keys = made.filter((key) => key !== undefined)
    expect(keys).toHaveLength(1)
    expect(await authenticate(keys[0]!)).toMatchObject({ role: 'Admin' })
    expect(await ensure()).toBeUndefined()
  })

  test('a configured key is used as it is, and replaces the one configured before', async () => {
    const first = 'correct horse battery staple'
    const second = 'x'.repeat(20)
    expect(await ensure(first)).toBeUndefined()
    expect(await ensure(first)).toBeUndefined()
    expect(await authenticate(first)).toMatchObject({ role: 'Admin' })
    await ensure(second)
    expect(await authenticate(first)).toBeUndefined()
    expect(await authenticate(second)).toMatchObject({ role: 'Admin' })
    expect(await listApiKeys(admin)).toHaveLength(1)
  })

  test('a configured key may have the format of a generated key', async () => {
    const { key } = await createApiKey(admin, { name: 'a', role: 'Editor' })
    await ensure(key)
    expect(await authenticate(key)).toMatchObject({ name: 'a', role: 'Editor' })
  })

  test.each(['x'.repeat(19), 'x'.repeat(257), 'correct horse\nbattery', `psin_${'x'.repeat(30)}`])(
    'refuses a configured key that cannot be an API key: %j',
    async (configuredKey) => {
      const failure = await ensure(configuredKey).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(ConfigError)
      expect(String(failure)).toMatch(/20 to 256 printable/)
      expect(String(failure)).not.toContain(configuredKey)
    },
  )
})

describe('O-14: the audit log', () => {
  test('is listed newest first, in pages, and filtered by event', async () => {
    for (const name of ['a', 'b', 'c']) await createToken(admin, { name })
    await createApiKey(admin, { name: 'd', role: 'Admin' })
    const page = await listAudit(admin, { limit: '3' })
    expect(page.events.map(({ event }) => event)).toEqual(['api_key.created', 'token.created', 'token.created'])
    const rest = await listAudit(admin, { limit: '3', cursor: page.nextCursor })
    expect(rest.events).toMatchObject([{ event: 'token.created', after: { name: 'a' } }])
    expect(rest.nextCursor).toBeUndefined()
    expect((await listAudit(admin, { event: 'token.created' })).events).toHaveLength(3)
  })

  test('is kept for more than a year, then purged', async () => {
    await createToken(admin, { name: 'a' })
    await purgeAudit(gateway.db, START_MS + 366 * 86_400_000)
    expect((await listAudit(admin, {})).events).toHaveLength(1)
    await purgeAudit(gateway.db, START_MS + 401 * 86_400_000)
    expect((await listAudit(admin, {})).events).toEqual([])
  })
})
