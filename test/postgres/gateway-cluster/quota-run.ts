import { setTimeout as sleep } from 'node:timers/promises'
import { SteadyLoad } from '../../gateway/steady-load.ts'
import type { GatewayCluster } from './gateway-cluster.ts'

export interface QuotaRunOptions {
  readonly perDay: number
  readonly perSecond: number
  readonly durationMs: number
}

export interface QuotaRunResult {
  readonly perDay: number
  readonly accepted: number
  /** The most that may be accepted beyond the quota: what the other gateways admit in 20 s. */
  readonly boundRequests: number
  readonly answers: Readonly<Record<number, number>>
}

/** The bound in docs/guides/gateway.md. */
const BOUND_SECONDS = 20
const FIRST_NUMBER = 30_000_000

/** Sends more than the daily quota of a token allows, through nginx to all gateways, and counts what they accept. */
export async function quotaRun(
  cluster: GatewayCluster,
  { perDay, perSecond, durationMs }: QuotaRunOptions,
): Promise<QuotaRunResult> {
  const { token } = await cluster.token({ name: 'quota', limits: { all: { day: { requests: perDay } } } })
  const load = new SteadyLoad({ url: cluster.url, perSecond, token, firstNumber: FIRST_NUMBER, isRetrying: false })
  await sleep(durationMs)
  const { acceptedIds, answers } = await load.stop()
  const others = (cluster.hosts.length - 1) / cluster.hosts.length
  return { perDay, accepted: acceptedIds.length, boundRequests: perSecond * BOUND_SECONDS * others, answers }
}
