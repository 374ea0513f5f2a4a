import { type Listening, unguarded } from '@penstock/http'
import { TrustedProxies } from '@penstock/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import type { Check } from './forward-auth.ts'
import { forwardAuthRoute } from './forward-auth-route.ts'
import { serveManagement } from './management-app.harness.ts'

const PROXY = '127.0.0.1'
const [ONE, OTHER] = ['198.51.100.7', '203.0.113.9']
const WRONG_KEYS_PER_NETWORK = 20

let gateway: TemporaryGateway
let server: Listening
let checks: Check[]

beforeEach(async () => {
  gateway = await TemporaryGateway.open()
  checks = []
})
afterEach(async () => {
  await server.close()
  await gateway.close()
})

async function serve(proxies: readonly string[]): Promise<void> {
  const forwardAuth = forwardAuthRoute((check) => {
    checks.push(check)
    return { status: 200, headers: {}, body: undefined }
  })
  server = await serveManagement(gateway, unguarded([forwardAuth]), { trustedProxies: new TrustedProxies(proxies) })
}

/** Sends a wrong key for a client, as a proxy does. */
async function guess(forwardedFor: string): Promise<number> {
  const headers = { 'OBS-API-KEY': 'psak_wrong', 'X-Forwarded-For': forwardedFor }
  return (await fetch(`${server.url}/api/v1/ingest_auth/state`, { headers })).status
}

const auditedSources = async () => {
  const rows = await gateway.db.read.selectFrom('audit_events').select('source').orderBy('id', 'desc').execute()
  return rows.map(({ source }) => source)
}

test('clients of a trusted proxy have their own limits, and the audit log has their addresses', async () => {
  await serve([PROXY])
  for (let count = 0; count < WRONG_KEYS_PER_NETWORK; count += 1) expect(await guess(ONE)).toBe(401)
  expect([await guess(ONE), await guess(OTHER)]).toEqual([429, 401])
  expect((await auditedSources()).slice(0, 2)).toEqual([OTHER, ONE])
})

test('a client cannot choose its address: only what the proxy has added counts', async () => {
  await serve([PROXY])
  await guess(`${OTHER}, ${ONE}`)
  expect(await auditedSources()).toEqual([ONE])
})

test('without trusted proxies the header is ignored', async () => {
  await serve([])
  await guess(ONE)
  expect(await auditedSources()).toEqual([PROXY])
})

test('forward-auth sees the proxy itself, whatever it says about its client', async () => {
  await serve([PROXY])
  await fetch(`${server.url}/forward-auth`, { headers: { 'X-Forwarded-For': ONE } })
  expect(checks.map(({ source }) => source)).toEqual([PROXY])
})
