import { silentLog } from '@penstock/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createApiKey, revokeApiKey } from '../accounts/api-key-operations.ts'
import { TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { endSession, findSession, MAX_SESSIONS_PER_KEY, SESSION_IDLE_MS, SESSION_MAX_MS, signIn } from './session.ts'
import { findSessionEnd } from './session-end.ts'

let gateway: TemporaryGateway
beforeEach(async () => {
  gateway = await TemporaryGateway.open()
})
afterEach(() => gateway.close())

const origin = { source: '192.0.2.7', requestId: 'r-1', previousSecret: undefined }
const store = () => ({ ...gateway.as('Admin'), log: silentLog, limit: () => {} })
const nowMs = () => gateway.clock.nowMs()
const endOf = (secret: string) => findSessionEnd(gateway.db, secret, nowMs())
const newKey = (expiresAt?: string) =>
  createApiKey(gateway.as('Admin'), { name: 'mira', role: 'Viewer', ...(expiresAt && { expires_at: expiresAt }) })

async function begin(key: string): Promise<string> {
  return (await signIn(store(), { apiKey: key }, origin, nowMs()))!.secret
}

test('a session that ends by its age, without use, or with its key', async () => {
  const { id, key } = await newKey()
  const expiring = await newKey(new Date(nowMs() + 3_600_000).toISOString())
  const [first, second] = [await begin(key), await begin(expiring.key)]
  gateway.clock.advance(SESSION_IDLE_MS)
  expect([await endOf(first), await endOf(second)]).toEqual(['unused', 'key_expired'])
  gateway.clock.advance(SESSION_MAX_MS - SESSION_IDLE_MS)
  expect(await endOf(first)).toBe('max_age')
  await revokeApiKey(gateway.as('Admin'), { id })
  expect(await endOf(first)).toBe('key_revoked')
})

test('a session that is signed out, or replaced by a later one of its key', async () => {
  const { key } = await newKey()
  const [first, second] = [await begin(key), await begin(key)]
  const session = (await findSession(store(), second, nowMs()))!
  await endSession(gateway, session, origin, nowMs())
  expect(await endOf(second)).toBe('signed_out')
  for (let count = 0; count < MAX_SESSIONS_PER_KEY; count += 1) {
    gateway.clock.advance(1_000)
    await begin(key)
  }
  expect([await findSession(store(), first, nowMs()), await endOf(first)]).toEqual([undefined, 'too_many'])
})

test('a secret that no session had', async () => {
  expect([await endOf('x'.repeat(43)), await endOf('no secret')]).toEqual([undefined, undefined])
})
