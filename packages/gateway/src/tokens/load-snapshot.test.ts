import { afterEach, beforeEach, expect, test } from 'vitest'
import { setState } from '../enforcement/enforcement-operations.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { START_MS, TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { loadSnapshot, purgeRevoked } from './load-snapshot.ts'
import { createToken, importToken, revokeToken, updateToken } from './token-operations.ts'

const DAY_MS = 86_400_000
let gateway: TemporaryGateway
let editor: OperationContext

beforeEach(async () => {
  gateway = await TemporaryGateway.open()
  editor = gateway.as('Editor')
})
afterEach(() => gateway.close())

test('T-10: the snapshot contains everything that an admission depends on', async () => {
  const limits = { all: { second: { requests: 3 } } }
  const { id } = await createToken(editor, {
    name: 'ci',
    tenant: 'acme',
    signals: ['logs'],
    allowed_origins: ['https://a.example'],
    client_certificate_sans: ['DNS:Agent.example'],
    allow_query: true,
    limits,
    expires_at: '2026-12-01T00:00:00Z',
  })
  await updateToken(editor, { id, body: { disabled: true } })
  await setState(editor, { body: { enabled: true, grace_seconds: 60 } })
  const snapshot = await loadSnapshot(gateway.db, START_MS + 5)
  expect(snapshot).toMatchObject({
    epoch: 4,
    mode: 'enforce',
    graceUntilMs: START_MS + 60_000,
  })
  expect(snapshot.byId.get(id)).toEqual({
    id,
    name: 'ci',
    mac: expect.any(Uint8Array),
    pepperId: gateway.peppers.newestId,
    signals: new Set(['logs']),
    tenant: 'acme',
    allowedOrigins: ['https://a.example'],
    certificateNames: ['DNS:agent.example'],
    allowQuery: true,
    limits,
    expiresAtMs: 1_796_083_200_000,
    revokedAtMs: undefined,
    disabled: true,
  })
  expect(snapshot.byMac.size).toBe(0)
})

test('T-15: imported tokens are also indexed by their hash', async () => {
  const { id } = await importToken(editor, { name: 'old', token: 'x'.repeat(32) })
  const { byId, byMac } = await loadSnapshot(gateway.db, START_MS)
  const token = byId.get(id)!
  expect(byMac.get(Buffer.from(token.mac).toString('hex'))).toBe(token)
})

test('revoked tokens stay for 30 days, so that the refusal can name the reason', async () => {
  const { id } = await createToken(editor, { name: 'ci' })
  await revokeToken(editor, { id })
  const at = async (ms: number) => (await loadSnapshot(gateway.db, ms)).byId.get(id)?.revokedAtMs
  expect(await at(START_MS + 30 * DAY_MS - 1)).toBe(START_MS)
  expect(await at(START_MS + 30 * DAY_MS)).toBeUndefined()
  const kept = () => gateway.db.read.selectFrom('ingest_tokens').select('id').execute()
  await purgeRevoked(gateway.db, START_MS + 30 * DAY_MS - 1)
  expect(await kept()).toEqual([{ id }])
  await purgeRevoked(gateway.db, START_MS + 30 * DAY_MS)
  expect(await kept()).toEqual([])
})

test('T-10: loads more tokens than one page contains', async () => {
  const { id } = await createToken(editor, { name: 'first' })
  const { position, ...row } = await gateway.db.read.selectFrom('ingest_tokens').selectAll().executeTakeFirstOrThrow()
  const text = (index: number) => String(index).padStart(12, '0')
  await gateway.db.write(async (tx) => {
    for (let index = 0; index < 4_100; index += 1) {
      const mac = Buffer.from(text(index).repeat(3).slice(0, 32))
      await tx
        .insertInto('ingest_tokens')
        .values({ ...row, id: text(index), mac })
        .execute()
    }
  })
  const { byId } = await loadSnapshot(gateway.db, START_MS)
  expect(byId.size).toBe(4_101)
  expect(byId.get(id)?.mac).toEqual(new Uint8Array(row.mac))
  expect(Buffer.from(byId.get(text(4_099))!.mac).toString()).toBe('00000000409900000000409900000000')
})
