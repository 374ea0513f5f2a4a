import { afterEach, beforeEach, expect, test } from 'vitest'
import { publishEpoch, removeInstance } from '../store/instances.ts'
import { START_MS, TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { createToken } from '../tokens/token-operations.ts'
import { listProcesses } from './gateway-processes.ts'

let gateway: TemporaryGateway

beforeEach(async () => {
  gateway = await TemporaryGateway.open()
})
afterEach(() => gateway.close())

test('lists which processes follow, which are behind, and which have gone silent', async () => {
  await publishEpoch(gateway.db, 'gate-d', 1, START_MS - 10_000)
  await createToken(gateway.as('Editor'), { name: 'a' })
  await publishEpoch(gateway.db, 'gate-a', 2, START_MS)
  await publishEpoch(gateway.db, 'gate-b', 1, START_MS - 1_500)
  await publishEpoch(gateway.db, 'gate-c', 2, START_MS)
  await removeInstance(gateway.db, 'gate-c')
  expect(await listProcesses(gateway.as('Editor'))).toEqual([
    { id: 'gate-a', state: 'following', epoch: 2, seen_at: '2026-11-21T07:00:00Z' },
    { id: 'gate-b', state: 'behind', epoch: 1, seen_at: '2026-11-21T06:59:58.500Z' },
    { id: 'gate-d', state: 'silent', epoch: 1, seen_at: '2026-11-21T06:59:50Z' },
  ])
  await expect(listProcesses(gateway.as('Viewer'))).rejects.toMatchObject({ code: 'forbidden' })
})
