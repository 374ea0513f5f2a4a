import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { OperationContext } from '../operations/operation-context.ts'
import { START_MS, TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { createToken, getToken, listTokens, revokeToken, updateToken } from './token-operations.ts'
import { recordUse } from './usage-store.ts'

let gateway: TemporaryGateway
let editor: OperationContext

beforeEach(async () => {
  gateway = await TemporaryGateway.open()
  editor = gateway.as('Editor')
})
afterEach(() => gateway.close())

const names = async (query: Record<string, string> = {}) =>
  (await listTokens(editor, query)).tokens.map((token) => token.name)

describe('listTokens', () => {
  test('returns tokens newest first, all of them without a limit, with the total count', async () => {
    for (const name of ['a', 'b', 'c']) await createToken(editor, { name })
    expect(await names()).toEqual(['c', 'b', 'a'])
    const page = await listTokens(editor, { limit: '2' })
    expect(page.tokens.map(({ name }) => name)).toEqual(['c', 'b'])
    expect(page.totalCount).toBe(3)
    const rest = await listTokens(editor, { limit: '2', cursor: page.nextCursor })
    expect(rest.tokens.map(({ name }) => name)).toEqual(['a'])
    expect(rest.nextCursor).toBeUndefined()
    expect(rest.totalCount).toBe(3)
  })

  test('a cursor stays valid while tokens are created and revoked', async () => {
    const ids = []
    for (const name of ['a', 'b', 'c', 'd']) ids.push((await createToken(editor, { name })).id)
    const { nextCursor } = await listTokens(editor, { limit: '2' })
    await createToken(editor, { name: 'e' })
    await revokeToken(editor, { id: ids[2]! })
    expect(await names({ limit: '2', cursor: nextCursor! })).toEqual(['b', 'a'])
  })

  test('filters by status; each token has exactly one status', async () => {
    const expiring = { name: 'expired', expires_at: '2026-11-21T08:00:00Z' }
    await createToken(editor, { name: 'valid' })
    const { id: disabled } = await createToken(editor, { name: 'disabled' })
    const { id: revoked } = await createToken(editor, { name: 'revoked' })
    await createToken(editor, expiring)
    await updateToken(editor, { id: disabled, body: { disabled: true } })
    await revokeToken(editor, { id: revoked })
    await gateway.clock.advance(3_600_000)
    for (const status of ['valid', 'disabled', 'expired', 'revoked']) {
      const { tokens } = await listTokens(editor, { status })
      expect(tokens.map((token) => [token.name, token.status])).toEqual([[status, status]])
    }
    expect(await names()).toEqual(['expired', 'disabled', 'valid'])
    expect(await names({ status: 'all' })).toEqual(['expired', 'revoked', 'disabled', 'valid'])
  })

  test('filters by a part of the name, without wildcards', async () => {
    for (const name of ['CI runners', 'exporter', '100%']) await createToken(editor, { name })
    expect(await names({ name: 'run' })).toEqual(['CI runners'])
    expect(await names({ name: 'ci' })).toEqual(['CI runners'])
    expect(await names({ name: '%' })).toEqual(['100%'])
  })

  test.each([
    [{ limit: '0' }, 'invalid_field'],
    [{ limit: '101' }, 'invalid_field'],
    [{ limit: 'ten' }, 'invalid_field'],
    [{ status: 'living' }, 'invalid_field'],
    [{ page: '2' }, 'unknown_field'],
    [{ cursor: 'abc' }, 'invalid_cursor'],
    [{ cursor: 'MA' }, 'invalid_cursor'],
  ])('refuses %j', async (query, code) => {
    await expect(listTokens(editor, query)).rejects.toMatchObject({ code })
  })

  test('T-17: returns the usage of 24 hours and the last use', async () => {
    const { id } = await createToken(editor, { name: 'ci' })
    const use = { tokenId: id, signal: 'traces', requests: 2, bytes: 100, rejected: 1 } as const
    await recordUse(gateway.db, [
      { ...use, lastUsedAtMs: START_MS - 86_400_000 },
      { ...use, lastUsedAtMs: START_MS - 3_600_000 },
      { ...use, signal: 'logs', lastUsedAtMs: START_MS },
    ])
    await recordUse(gateway.db, [{ ...use, lastUsedAtMs: START_MS - 1_800_000 }])
    const token = await getToken(editor, { id })
    expect(token.usage_24h).toEqual({ requests: 6, bytes: 300, rejected: 3 })
    const quiet = Array<number>(22).fill(0)
    expect(token.usage_by_hour).toEqual({
      since: '2026-11-20T08:00:00Z',
      requests: [...quiet, 4, 2],
      bytes: [...quiet, 200, 100],
      rejected: [...quiet, 2, 1],
    })
    expect(token.last_used_at).toBe('2026-11-21T07:00:00Z')
    expect((await listTokens(editor, {})).tokens[0]?.usage_24h).toEqual({ requests: 6, bytes: 300, rejected: 3 })
    const hours = await gateway.db.read
      .selectFrom('token_usage')
      .select(['signal', 'hour_start_ms', 'requests'])
      .execute()
    expect(hours).toContainEqual({ signal: 'traces', hour_start_ms: START_MS - 3_600_000, requests: 4 })
  })

  test('a token without use has no hours, and hours to come are left out', async () => {
    const { id } = await createToken(editor, { name: 'ci' })
    expect((await getToken(editor, { id })).usage_by_hour).toBeNull()
    const use = { tokenId: id, signal: 'traces', requests: 1, bytes: 9, rejected: 0 } as const
    await recordUse(gateway.db, [{ ...use, lastUsedAtMs: START_MS + 3_600_000 }])
    expect(await getToken(editor, { id })).toMatchObject({ usage_by_hour: null, usage_24h: { requests: 0 } })
  })

  test('getToken throws token_not_found for an unknown id', async () => {
    await expect(getToken(editor, { id: 'unknown' })).rejects.toMatchObject({ code: 'token_not_found' })
  })
})
