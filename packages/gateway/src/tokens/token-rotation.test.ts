import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { OperationContext } from '../operations/operation-context.ts'
import { START_MS, TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { createToken, rotateToken, verifyToken } from './token-operations.ts'
import { recordUse } from './usage-store.ts'

let gateway: TemporaryGateway
let editor: OperationContext

beforeEach(async () => {
  gateway = await TemporaryGateway.open()
  editor = gateway.as('Editor')
})
afterEach(() => gateway.close())

describe('T-16: rotation', () => {
  test('both tokens are valid for a day, with the same rights', async () => {
    const old = await createToken(editor, { name: 'ci', tenant: 'acme', signals: ['logs'], description: 'x' })
    await recordUse(gateway.db, [
      { tokenId: old.id, signal: 'logs', requests: 1, bytes: 1, rejected: 0, lastUsedAtMs: START_MS + 1_000 },
    ])
    await gateway.clock.advance(5_000)
    const rotated = await rotateToken(editor, { id: old.id, body: {} })
    expect(rotated).toMatchObject({
      name: 'ci',
      tenant: 'acme',
      signals: ['logs'],
      description: 'x',
      supersedes: old.id,
    })
    expect(rotated).toMatchObject({ expires_at: null, last_used_at: null, created_at: '2026-11-21T07:00:05Z' })
    expect(rotated.superseded).toEqual({
      id: old.id,
      expires_at: '2026-11-22T07:00:05Z',
      last_used_at: '2026-11-21T07:00:01Z',
    })
    for (const { token } of [old, rotated]) expect((await verifyToken(editor, { token })).valid).toBe(true)
    await gateway.clock.advance(86_400_000)
    expect(await verifyToken(editor, { token: old.token })).toMatchObject({ valid: false, reason: 'expired' })
    expect((await verifyToken(editor, { token: rotated.token })).valid).toBe(true)
  })

  test('an old token that expires earlier keeps its expiry, and the new one gets the same lifetime', async () => {
    const old = await createToken(editor, { name: 'ci', expires_at: '2026-11-21T09:00:00Z' })
    await gateway.clock.advance(3_600_000)
    const rotated = await rotateToken(editor, { id: old.id, body: {} })
    expect(rotated.superseded.expires_at).toBe('2026-11-21T09:00:00Z')
    expect(rotated.expires_at).toBe('2026-11-21T10:00:00Z')
  })

  test('without overlap the old token expires immediately', async () => {
    const old = await createToken(editor, { name: 'ci' })
    await rotateToken(editor, { id: old.id, body: { overlap_seconds: 0, expires_at: '2027-01-01T00:00:00Z' } })
    expect(await verifyToken(editor, { token: old.token })).toMatchObject({ valid: false, reason: 'expired' })
  })
})
