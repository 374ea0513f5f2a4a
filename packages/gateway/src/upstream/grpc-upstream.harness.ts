import { systemClock } from '@penstock/runtime'
import type { ManualClock } from '@penstock/testkit'
import { onTestFinished } from 'vitest'
import type { UpstreamAlarm, UpstreamRequest } from '../contract/upstream.ts'
import { type GrpcPlay, GrpcScript } from './grpc-script.harness.ts'
import { GrpcUpstream, type GrpcUpstreamSettings } from './grpc-upstream.ts'

export async function script(
  plays: readonly GrpcPlay[] | GrpcPlay,
  options?: { onHeaders?: boolean },
): Promise<GrpcScript> {
  const started = await GrpcScript.start(plays, options)
  onTestFinished(() => started.close())
  return started
}

export function upstreamOf(
  url: URL,
  settings: Partial<GrpcUpstreamSettings> = {},
  clock: typeof systemClock | ManualClock = systemClock,
  onAlarm: (alarm: UpstreamAlarm) => void = () => {},
): GrpcUpstream {
  const upstream = new GrpcUpstream(
    { target: { url }, credential: () => 'Bearer ours', ...settings },
    { clock, random: () => 0.5, onAlarm },
  )
  onTestFinished(() => upstream.close())
  return upstream
}

export const body = Buffer.from('message bytes')
export function requestOf(changes: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return {
    signal: 'traces',
    encoding: 'protobuf',
    contentEncoding: '',
    headers: ['x-ingest-token-id', 'abc', 'user-agent', 'sdk/1'],
    body,
    contentLength: undefined,
    deadlineMs: performance.now() + 10_000,
    ...changes,
  }
}
