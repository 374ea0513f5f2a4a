/**
 * Four gateways behind nginx on one PostgreSQL server: random changes of tokens and enforcement, a daily quota, then kills of
 * gateways and of the server. Arguments: another seed, another number of changes, other minutes of kills.
 */
import { loadavg } from 'node:os'
import { changeRuns } from '../postgres/gateway-cluster/change-runs.ts'
import { GatewayCluster } from '../postgres/gateway-cluster/gateway-cluster.ts'
import { killRuns } from '../postgres/gateway-cluster/kill-runs.ts'
import { quotaRun } from '../postgres/gateway-cluster/quota-run.ts'
import { atMost, type Bound, reportBounds } from './bounds.ts'
import { seededRandom } from './gateway/token-text.ts'

const PER_SECOND = 60
const QUOTA = { perDay: 2_000, perSecond: PER_SECOND, durationMs: 90_000 }
const BOUND_MS = 2_000
const MINUTE_MS = 60_000

const [seed = 1, changes = 1_000, minutes = 10] = process.argv.slice(2).map(Number)
const random = seededRandom(seed)
await using cluster = await GatewayCluster.start()

const changed = await changeRuns(cluster, { changes, random })
const delays = [...changed.delaysMs.values()].flat().toSorted((a, b) => a - b)
console.log(`load average        ${loadavg()[0]!.toFixed(2)} after the changes, seed ${seed}`)
for (const [kind, ofKind] of changed.delaysMs) {
  const sorted = ofKind.toSorted((a, b) => a - b)
  console.log(
    `${kind.padEnd(20)}${sorted.length}, median ${middleOf(sorted).toFixed(0)} ms, worst ${sorted.at(-1)!.toFixed(0)} ms`,
  )
}
reportBounds('Changes', [
  { what: 'changes', measured: String(delays.length) },
  { what: 'median until every gateway obeys', measured: `${middleOf(delays).toFixed(0)} ms` },
  atMost('worst until every gateway obeys', delays.at(-1)!, BOUND_MS, 'ms', 0),
  { what: 'slowest call of the API', measured: `${changed.slowestCallMs.toFixed(0)} ms` },
  ...faultBounds(changed.faults),
])

const quota = await quotaRun(cluster, QUOTA)
reportBounds(
  `A quota of ${quota.perDay} requests a day, ${QUOTA.perSecond} a second for ${QUOTA.durationMs / 1_000} s`,
  [
    { what: 'answers', measured: JSON.stringify(quota.answers) },
    atMost('accepted beyond the quota', Math.max(0, quota.accepted - quota.perDay), quota.boundRequests, 'requests', 0),
    { what: 'left unused', measured: `${Math.max(0, quota.perDay - quota.accepted)} requests` },
  ],
)

const killed = await killRuns(cluster, { durationMs: minutes * MINUTE_MS, perSecond: PER_SECOND, random })
const { usage } = killed
reportBounds(`${minutes} minutes of kills, load average ${loadavg()[0]!.toFixed(2)}`, [
  { what: 'kills of gateways, of PostgreSQL', measured: `${killed.gatewayKills}, ${killed.databaseKills}` },
  { what: 'requests with a valid token', measured: String(killed.sent) },
  { what: 'answers to them', measured: JSON.stringify(killed.answers) },
  { what: 'cut by a kill and sent again', measured: String(killed.cut) },
  { what: 'errors of nginx', measured: JSON.stringify(killed.proxyErrors) },
  { what: 'arrived twice', measured: String(killed.duplicates) },
  { what: 'answers to a revoked token', measured: JSON.stringify(killed.refusedSenders.revoked) },
  { what: 'answers to an unknown token', measured: JSON.stringify(killed.refusedSenders.unknown) },
  { what: 'revocations under kills', measured: String(killed.revocations) },
  { what: 'answers of the API', measured: JSON.stringify(killed.apiAnswers) },
  atMost('latest acceptance of a revoked token', killed.latestAcceptanceMs, BOUND_MS, 'ms', 0),
  { what: 'requests forwarded, stored as use', measured: `${usage.forwarded}, ${usage.stored}` },
  atMost('missing in the stored use', Math.max(0, usage.forwarded - usage.stored), usage.boundRequests, 'requests', 0),
  ...faultBounds(killed.faults),
])

function middleOf(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length / 2)]!
}

function faultBounds(faults: readonly string[]): Bound[] {
  for (const fault of faults) console.log(fault)
  return [atMost('faults', faults.length, 0, '', 0)]
}
