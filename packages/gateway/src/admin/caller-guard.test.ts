import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Incoming } from '@penstock/http'
import { silentLog } from '@penstock/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createApiKey, revokeApiKey } from '../accounts/api-key-operations.ts'
import { signIn } from '../sessions/session.ts'
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
    monotonicMs: () => gateway.clock.monotonicMs(),
    readiness: () => Promise.reject(new Error('not used')),
    externalUrl: undefined,
    strictTransportSeconds: 0,
    isStoreConnected: false,
    otlp: { externalUrl: undefined, bound: { host: '127.0.0.1', port: 4318 }, isTls: false },
    version: '0.0.0',
  }
})
afterEach(() => gateway.close())

/** Returns a function that admits a request, as the start of an answer and a check while the answer lasts do. */
function admission(headers: IncomingHttpHeaders) {
  const rawHeaders = Object.entries(headers).flatMap(([name, value]) => [name, String(value)])
  const raw = { headers, rawHeaders } as IncomingMessage
  const incoming: Incoming = { method: 'GET', path: '/', search: '', source: '192.0.2.7', requestId: 'r-1', raw }
  const guard = callerGuard(deps, new Denials(deps))
  return async () => (await guard(incoming, 'observe')).actor
}

test('an answer that lasts learns that its key or session has ended', async () => {
  const { id, key } = await createApiKey(gateway.as('Admin'), { name: 'mira', role: 'Viewer' })
  const origin = { source: '192.0.2.7', requestId: 'r-1', previousSecret: undefined }
  const { secret } = (await signIn({ ...deps, limit: () => {} }, { apiKey: key }, origin, deps.nowMs()))!
  const admissions = [admission({ 'obs-api-key': key }), admission({ cookie: `penstock_session=${secret}` })]
  const actor = { id, name: 'mira', role: 'Viewer' }
  for (const admit of admissions) expect(await admit()).toEqual(actor)
  await revokeApiKey(gateway.as('Admin'), { id })
  const [byKey, bySession] = admissions.map((admit) => admit())
  await expect(byKey).rejects.toMatchObject({ code: 'unauthenticated', details: undefined })
  await expect(bySession).rejects.toMatchObject({ code: 'unauthenticated', details: { session_ended: 'key_revoked' } })
})
