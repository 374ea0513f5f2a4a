import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { migrate, openSqlite } from '@penstock/db'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadSnapshot } from '../tokens/load-snapshot.ts'
import { openGatewayStore } from './gateway-store.ts'
import { listLiveInstances, publishEpoch, removeInstance } from './instances.ts'
import { gatewayMigrations } from './migrations.ts'
import type { GatewayTables } from './tables.ts'
import { START_MS, TemporaryGateway } from './temporary-gateway.harness.ts'

let gateway: TemporaryGateway

beforeEach(async () => {
  gateway = await TemporaryGateway.open()
})
afterEach(() => gateway.close())

test('creates a store with enforcement off, at epoch 1', async () => {
  expect(await gateway.db.read.selectFrom('enforcement').selectAll().execute()).toEqual([
    { id: 1, mode: 'off', grace_until_ms: null, epoch: 1, changed_at_ms: null, changed_by_id: null, plane_id: null },
  ])
})

test('T-9, X-13: migration 0002 allows no existing token in a query, and binds none to a certificate', async () => {
  const file = join(gateway.directory, 'old.db')
  const old = openSqlite<GatewayTables>(file)
  await migrate(old, { '0001_gateway': gatewayMigrations['0001_gateway']! })
  const row = {
    id: 'aaaaaaaaaaaa',
    name: 'old',
    description: null,
    mac: randomBytes(32),
    pepper_id: '1',
    imported: 0,
    signals_json: '["logs"]',
    tags_json: '{}',
    tenant: null,
    allowed_origins_json: '[]',
    limits_json: null,
    created_at_ms: START_MS,
    created_by_id: 'key',
    created_by_role: 'Editor',
    expires_at_ms: null,
    disabled: 0,
    revoked_at_ms: null,
    last_used_at_ms: null,
    supersedes: null,
    expiry_warned_ms: null,
  }
  await old.write((tx) => tx.insertInto('ingest_tokens').values(row).execute())
  await old.close()
  const db = await openGatewayStore(file)
  try {
    expect((await loadSnapshot(db, START_MS)).byId.get('aaaaaaaaaaaa')).toMatchObject({
      allowQuery: false,
      certificateNames: [],
    })
  } finally {
    await db.close()
  }
})

test('several processes may open the same store at the same time', async () => {
  const handles = await Promise.all(Array.from({ length: 4 }, () => gateway.openAnother()))
  expect(handles).toHaveLength(4)
})

test('refuses an unknown enforcement mode and a second enforcement row', async () => {
  const mode = gateway.db.write((tx) =>
    tx
      .updateTable('enforcement')
      .set({ mode: 'maybe' as 'off' })
      .execute(),
  )
  await expect(mode).rejects.toThrow(/check/i)
  const second = gateway.db.write((tx) =>
    tx.insertInto('enforcement').values({ id: 2, mode: 'off', epoch: 1 }).execute(),
  )
  await expect(second).rejects.toThrow(/check/i)
})

test('T-13: an instance is treated as live for 10 s after it last published its epoch', async () => {
  await publishEpoch(gateway.db, 'a', 1, START_MS)
  await publishEpoch(gateway.db, 'b', 1, START_MS + 5_000)
  await publishEpoch(gateway.db, 'a', 2, START_MS + 6_000)
  expect(await listLiveInstances(gateway.db, START_MS + 6_000)).toEqual([
    { id: 'a', epoch: 2 },
    { id: 'b', epoch: 1 },
  ])
  expect(await listLiveInstances(gateway.db, START_MS + 15_000)).toEqual([{ id: 'a', epoch: 2 }])
  await removeInstance(gateway.db, 'a')
  expect(await listLiveInstances(gateway.db, START_MS + 6_000)).toEqual([{ id: 'b', epoch: 1 }])
})

test('deletes instances that ended without removing themselves', async () => {
  await publishEpoch(gateway.db, 'dead', 1, START_MS)
  await publishEpoch(gateway.db, 'a', 1, START_MS + 3_600_001)
  const rows = await gateway.db.read.selectFrom('gateway_instances').select('id').execute()
  expect(rows).toEqual([{ id: 'a' }])
})
