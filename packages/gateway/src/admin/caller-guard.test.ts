import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Incoming } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createApiKey, revokeApiKey } from '../accounts/api-key-operations.ts'
import { SESSION_IDLE_MS, signIn } from '../sessions/session.ts'
import { TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { callerGuard } from './caller-guard.ts'
import { Denials } from './denials.ts'
import type { ManagementDeps } from './management-context.ts'

let gateway: TemporaryGateway
let deps: ManagementDeps
beforeEach(async () => {
  gateway = await TemporaryGateway.open()
  const { actor: _actor, source: _source, requestId: _requestId, ...context } = gateway.as('Admin')
  deps = {
    ...context,
    log: silentLog,
    readiness: () => Promise.reject(new Error('not used')),
    strictTransportSeconds: 0,
    isStoreConnected: false,
    version: '0.0.0',
  }
})
afterEach(() => gateway.close())

function enter(headers: IncomingHttpHeaders) {
  const rawHeaders = Object.entries(headers).flatMap(([name, value]) => [name, String(value)])
  const raw = { headers, rawHeaders } as IncomingMessage
  const incoming: Incoming = { method: 'GET', path: '/', search: '', source: '192.0.2.7', requestId: 'r-1', raw }
  return callerGuard(deps, new Denials(deps))(incoming, 'observe')
}

test('an answer that lasts learns that its key or session has ended', async () => {
  const { id, key } = await createApiKey(gateway.as('Admin'), { name: 'mira', role: 'Viewer' })
  const newSession = async () => {
    const origin = { source: '192.0.2.7', requestId: 'r-1', previousSecret: undefined }
    const { secret } = (await signIn(deps, { apiKey: key }, origin, deps.nowMs()))!
    return await enter({ cookie: `penstock_session=${secret}` })
  }
  const byKey = await enter({ 'obs-api-key': key })
  const idle = await newSession()
  expect(idle.actor).toEqual(byKey.actor)
  expect([await byKey.isStillValid(), await idle.isStillValid()]).toEqual([true, true])
  await gateway.clock.advance(SESSION_IDLE_MS - 1)
  expect(await idle.isStillValid()).toBe(true)
  // Asking is no use of the session.
  await gateway.clock.advance(1)
  expect([await byKey.isStillValid(), await idle.isStillValid()]).toEqual([true, false])
  const open = await newSession()
  expect(await open.isStillValid()).toBe(true)
  await revokeApiKey(gateway.as('Admin'), { id })
  expect([await byKey.isStillValid(), await open.isStillValid()]).toEqual([false, false])
})
