import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { listAudit } from '../accounts/audit-log.ts'
import { setState } from '../enforcement/enforcement-operations.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { currentEpoch } from './load-snapshot.ts'
import { createToken, getToken, listTokens, revokeToken, updateToken } from './token-operations.ts'

let gateway: TemporaryGateway
let editor: OperationContext

beforeEach(async () => {
  gateway = await TemporaryGateway.open()
  editor = gateway.as('Editor')
})
afterEach(() => gateway.close())

const enforce = () => setState(editor, { body: { enabled: true } })
const names = async (query: Record<string, string> = {}) =>
  (await listTokens(editor, query)).tokens.map((token) => token.name)
const events = async () => (await listAudit(gateway.as('Admin'), {})).events.map(({ event }) => event)

describe('the last valid token', () => {
  test('A-1: cannot be revoked while enforcement is on, and the attempt is audited', async () => {
    const { id } = await createToken(editor, { name: 'ci' })
    await enforce()
    const epoch = await currentEpoch(gateway.db)
    await expect(revokeToken(editor, { id })).rejects.toMatchObject({
      code: 'last_valid_token',
      details: {
        token_id: id,
        valid_tokens: 1,
        enforcement: 'enabled',
        remedies: ['create_token', 'disable_enforcement'],
      },
    })
    expect(await currentEpoch(gateway.db)).toBe(epoch)
    expect((await events())[0]).toBe('token.revoke_refused')
    expect((await getToken(editor, { id })).status).toBe('valid')
  })

  test('A-1: expired, disabled and revoked tokens are not treated as valid, and may be revoked', async () => {
    const { id } = await createToken(editor, { name: 'last' })
    const { id: disabled } = await createToken(editor, { name: 'disabled' })
    const { id: expired } = await createToken(editor, { name: 'expired', expires_at: '2026-11-21T08:00:00Z' })
    const { id: revoked } = await createToken(editor, { name: 'revoked' })
    await updateToken(editor, { id: disabled, body: { disabled: true } })
    await revokeToken(editor, { id: revoked })
    await gateway.clock.advance(3_600_000)
    await enforce()
    await expect(revokeToken(editor, { id })).rejects.toMatchObject({ code: 'last_valid_token' })
    await revokeToken(editor, { id: disabled })
    await revokeToken(editor, { id: expired })
    await expect(revokeToken(editor, { id: revoked })).rejects.toMatchObject({ code: 'token_not_found' })
  })

  test('A-2: cannot be disabled while enforcement is on', async () => {
    const { id } = await createToken(editor, { name: 'ci' })
    await enforce()
    const patch = updateToken(editor, { id, body: { disabled: true, description: 'x' } })
    await expect(patch).rejects.toMatchObject({ code: 'last_valid_token' })
    expect(await getToken(editor, { id })).toMatchObject({ status: 'valid', description: null })
    expect((await events())[0]).toBe('token.revoke_refused')
  })

  test('A-2: if two processes revoke the last two concurrently, exactly one succeeds', async () => {
    const other = gateway.as('Admin', {}, await gateway.openAnother())
    for (let round = 0; round < 5; round += 1) {
      await setState(editor, { body: { enabled: false } })
      for (const { id } of (await listTokens(editor, {})).tokens) await revokeToken(editor, { id })
      const { id: first } = await createToken(editor, { name: 'first' })
      const { id: second } = await createToken(editor, { name: 'second' })
      await enforce()
      const outcomes = await Promise.allSettled([
        revokeToken(editor, { id: first }),
        revokeToken(other, { id: second }),
      ])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(outcomes.find((outcome) => outcome.status === 'rejected')?.reason).toMatchObject({
        code: 'last_valid_token',
      })
      expect(await names({ status: 'valid' })).toHaveLength(1)
    }
  })

  test('A-3: can be revoked while enforcement is off', async () => {
    const { id } = await createToken(editor, { name: 'ci' })
    for (const mode of ['report', 'warn']) await setState(editor, { body: { enabled: false, mode } })
    await revokeToken(editor, { id })
    expect(await names()).toEqual([])
  })
})
