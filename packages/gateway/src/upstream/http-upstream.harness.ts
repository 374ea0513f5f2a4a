import { silentLog, systemClock } from '@penstock/runtime'
import { type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { onTestFinished } from 'vitest'
import type { UpstreamAlarm, UpstreamRequest } from '../contract/upstream.ts'
import { meteredUpstream } from '../metrics/metered-upstream.ts'
import { MetricRegistry } from '../metrics/registry.ts'
import { type HttpUpstreamOptions, openHttpUpstream } from './http-upstream.ts'

export async function playing(script: readonly ScriptedReply[]): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(script)
  onTestFinished(() => server.close())
  return server
}

export async function upstreamAt(url: string, changes: Partial<HttpUpstreamOptions> = {}) {
  const alarms: UpstreamAlarm[] = []
  const metrics = new MetricRegistry()
  const plain = await openHttpUpstream({
    config: { url },
    passCredentialThrough: false,
    clock: systemClock,
    random: () => 0.5,
    onAlarm: (alarm) => alarms.push(alarm),
    ...changes,
  })
  const upstream = meteredUpstream(plain, metrics, () => performance.now(), silentLog)
  onTestFinished(() => upstream.close())
  const failures = () =>
    metrics
      .report()
      .cells.filter(({ name }) => name === 'otelcol_exporter_send_failed_requests')
      .map(({ labels, value }) => [labels.error_type, value])
  return { upstream, alarms, metrics, failures }
}

export async function setUp(script: readonly ScriptedReply[], changes: Partial<HttpUpstreamOptions> = {}) {
  const server = await playing(script)
  return { server, ...(await upstreamAt(server.url, changes)) }
}

export const bytes = Uint8Array.of(0x0a, 0x02, 0x12, 0x00)

export function request(changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    signal: 'traces',
    encoding: 'protobuf',
    contentEncoding: '',
    headers: ['user-agent', 'sdk/1', 'x-tenant', 'a'],
    body: bytes,
    contentLength: bytes.length,
    deadlineMs: systemClock.monotonicMs() + 20_000,
    ...changes,
  }
}

export const ok = { play: 'reply', status: 200 } as const satisfies ScriptedReply
export const refused = (fields: object) => ({ kind: 'refused', ...fields })
