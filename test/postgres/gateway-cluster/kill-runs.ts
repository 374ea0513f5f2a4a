import { setTimeout as sleep } from 'node:timers/promises'
import { openGatewayStore } from '@penstock/gateway'
import { SteadyLoad } from '../../gateway/steady-load.ts'
import { newTokenId, newTokenText } from '../../load/gateway/token-text.ts'
import { Outages } from '../outages.ts'
import { ArrivalLog } from './arrival-log.ts'
import type { GatewayCluster } from './gateway-cluster.ts'
import type { GatewayHost } from './gateway-host.ts'
import { Revocations } from './revocations.ts'

export interface KillRunOptions {
  readonly durationMs: number
  /** The rate of requests with a valid token. A fifth of it has a revoked token, and another fifth an unknown one. */
  readonly perSecond: number
  readonly random: () => number
}

export interface KillRunResult {
  readonly gatewayKills: number
  readonly databaseKills: number
  readonly sent: number
  /** The answers to requests with a valid token, including those that were sent again. */
  readonly answers: Readonly<Record<number, number>>
  /** How many of these requests were cut by the end of a gateway, and sent again. */
  readonly cut: number
  readonly duplicates: number
  readonly proxyErrors: Readonly<Record<string, number>>
  readonly refusedSenders: Readonly<Record<'revoked' | 'unknown', Readonly<Record<number, number>>>>
  readonly revocations: number
  readonly apiAnswers: Readonly<Record<number, number>>
  /** The longest time after which a gateway accepted a revoked token, not counting absences of the database. */
  readonly latestAcceptanceMs: number
  readonly usage: UsageComparison
  readonly faults: readonly string[]
}

export interface UsageComparison {
  /** How many requests the upstreams have received, and how many are stored as the use of the token. */
  readonly forwarded: number
  readonly stored: number
  /** The most that killed gateways can have counted since they last stored it. */
  readonly boundRequests: number
}

interface Kill {
  readonly host: GatewayHost
  readonly atMs: number
}

const BOUND_MS = 2_000
/** A gateway stores the use every ten seconds, and it and this process may be late. */
const USAGE_SPAN_MS = 13_000
/** The pauses between kills, and the time for which the killed process is away. */
const pausesMs = { between: [1_500, 5_000], gatewayAway: [200, 3_000], databaseAway: [500, 6_000] } as const
const DATABASE_ONE_IN = 5
/** Below this number of running gateways, none is killed. */
const FEWEST_RUNNING = 2
const numbersOf = { valid: 40_000_000, revoked: 60_000_000, unknown: 80_000_000 }

/**
 * Kills gateways and the PostgreSQL server at random, and starts them again, while senders with valid, revoked and unknown
 * tokens export through nginx and tokens are revoked. Then compares what was counted.
 */
export async function killRuns(cluster: GatewayCluster, options: KillRunOptions): Promise<KillRunResult> {
  const { durationMs, perSecond, random } = options
  const outages = new Outages()
  const valid = await cluster.token({ name: 'sender' })
  const revoked = await cluster.token({ name: 'revoked' })
  await cluster.enforce(true)
  await cluster.hosts[0]!.call('DELETE', `/tokens/${revoked.id}`)
  const unknown = newTokenText(newTokenId(random), random)
  await sleep(BOUND_MS)

  const arrivals = new ArrivalLog(cluster.hosts)
  const revocations = new Revocations(cluster, outages, random)
  const shared = { url: cluster.url, isRetrying: false }
  const loads = {
    valid: new SteadyLoad({
      ...shared,
      perSecond,
      token: valid.token,
      firstNumber: numbersOf.valid,
      isRetrying: true,
    }),
    revoked: new SteadyLoad({
      ...shared,
      perSecond: perSecond / 5,
      token: revoked.token,
      firstNumber: numbersOf.revoked,
    }),
    unknown: new SteadyLoad({ ...shared, perSecond: perSecond / 5, token: unknown, firstNumber: numbersOf.unknown }),
  }
  const over = new AbortController()
  const revoking = revocations.run(over.signal)
  const { kills, boundRequests } = await killAtRandom(cluster, { durationMs, random, outages, arrivals })
  over.abort()
  await revoking
  await sleep(BOUND_MS)
  const [good, ofRevoked, ofUnknown] = await Promise.all([
    loads.valid.stop(),
    loads.revoked.stop(),
    loads.unknown.stop(),
  ])
  arrivals.stop()
  const faults = await revocations.acceptedAtTheEnd()
  // An orderly end stores what was counted.
  const exitCodes = await Promise.all(cluster.hosts.map((host) => host.stop()))
  if (exitCodes.some((code) => code !== 0)) faults.push(`the gateways ended with ${exitCodes.join(', ')}`)

  const proxyErrors = cluster.proxyErrors()
  const cut = good.answers[502] ?? 0
  const allCut = cut + (ofRevoked.answers[502] ?? 0) + (ofUnknown.answers[502] ?? 0)
  const lostConnections = Object.entries(proxyErrors)
    .filter(([text]) => !isBeforeSending(text))
    .reduce((sum, [, count]) => sum + count, 0)
  if (allCut > lostConnections)
    faults.push(`${allCut} requests got 502, but nginx lost only ${lostConnections} connections that had one`)
  const strangeAnswers = Object.keys(good.answers).filter((status) => status !== '200' && status !== '502')
  if (strangeAnswers.length > 0) faults.push(`requests with a valid token got ${strangeAnswers.join(', ')}`)
  if (good.lostIds.length > 0) faults.push(`${good.lostIds.length} requests with a valid token were given up`)
  for (const message of good.broken) faults.push(`nginx broke a connection: ${message}`)
  const received = new Set(cluster.hosts.flatMap(({ sink }) => [...sink.arrivals.keys()]))
  const missing = good.acceptedIds.filter((id) => !received.has(id))
  if (missing.length > 0) faults.push(`${missing.length} accepted requests never arrived, ${missing[0]} the first`)
  for (const [name, { answers }] of Object.entries({ revoked: ofRevoked, unknown: ofUnknown })) {
    const strange = Object.keys(answers).filter((status) => status !== '401' && status !== '502')
    if (strange.length > 0) faults.push(`requests with ${name} tokens got ${strange.join(', ')}`)
  }
  const late = revocations.acceptances.filter(({ afterMs }) => afterMs > BOUND_MS)
  for (const { id, host, afterMs } of late)
    faults.push(`${host} accepted ${id} ${afterMs.toFixed(0)} ms after its revocation and the return of the database`)
  const strange = Object.keys(revocations.answers).filter((status) => !apiStatuses.includes(Number(status)))
  if (strange.length > 0) faults.push(`the API answered ${strange.join(', ')}`)

  const stored = await storedData(cluster, valid.id, revocations)
  faults.push(...stored.faults, ...cluster.unexpectedErrors().map((event) => `logged: ${event}`))
  const numbersOfValid = (id: string) =>
    Number(id.slice(1)) < numbersOf.revoked && Number(id.slice(1)) >= numbersOf.valid
  const counts = cluster.hosts.flatMap(({ sink }) => [...sink.arrivals].filter(([id]) => numbersOfValid(id)))
  const forwarded = counts.reduce((sum, [, count]) => sum + count, 0)
  const usage = { forwarded, stored: stored.requests, boundRequests }
  if (usage.stored < forwarded - boundRequests)
    faults.push(
      `the stored use lacks ${forwarded - usage.stored} requests, more than the ${boundRequests} that kills explain`,
    )
  // If the database ends while it commits, the use is stored again.
  if (usage.stored > forwarded && outages.count === 0)
    faults.push(`the stored use has ${usage.stored - forwarded} requests too many`)
  return {
    gatewayKills: kills.length,
    databaseKills: outages.count,
    sent: good.sent,
    answers: good.answers,
    cut,
    duplicates: forwarded - new Set(counts.map(([id]) => id)).size,
    proxyErrors,
    refusedSenders: { revoked: ofRevoked.answers, unknown: ofUnknown.answers },
    revocations: revocations.revoked.length,
    apiAnswers: revocations.answers,
    latestAcceptanceMs: Math.max(0, ...revocations.acceptances.map(({ afterMs }) => afterMs)),
    usage,
    faults: [...new Set(faults)].slice(0, 30),
  }
}

/** Statuses of the API: done, unknown because it was done before, and refused without the database; 0 is no answer. */
const apiStatuses = [0, 201, 204, 404, 503]

/** Returns whether an error of nginx is about a request that it had not sent to a gateway yet. */
const isBeforeSending = (text: string): boolean =>
  /^(?:connect\(\) failed|upstream timed out|no live upstreams)/.test(text)

async function killAtRandom(
  cluster: GatewayCluster,
  {
    durationMs,
    random,
    outages,
    arrivals,
  }: {
    readonly durationMs: number
    readonly random: () => number
    readonly outages: Outages
    readonly arrivals: ArrivalLog
  },
): Promise<{ readonly kills: readonly Kill[]; readonly boundRequests: number }> {
  const { postgres } = cluster
  const between = ([leastMs, mostMs]: readonly [number, number]) => leastMs + random() * (mostMs - leastMs)
  const kills: Kill[] = []
  const returning: Promise<void>[] = []
  const startedAtMs = new Map<GatewayHost, number>()
  let boundRequests = 0
  const killDatabase = async () => {
    outages.begin()
    await postgres.kill()
    await sleep(between(pausesMs.databaseAway))
    await postgres.startAgain()
    outages.end()
  }
  const killGateway = async (host: GatewayHost) => {
    const atMs = performance.now()
    kills.push({ host, atMs })
    await host.kill()
    const lastStoredMs = outages.lastSuccessMs(atMs, USAGE_SPAN_MS)
    boundRequests += arrivals.countSince(host, Math.max(lastStoredMs, startedAtMs.get(host) ?? 0))
    await sleep(between(pausesMs.gatewayAway))
    await host.startAgain()
    startedAtMs.set(host, performance.now())
  }
  const endAtMs = performance.now() + durationMs
  while (performance.now() < endAtMs) {
    await sleep(between(pausesMs.between))
    const running = cluster.runningHosts
    // The first kill is that of the database, so that each run has one.
    if (outages.count === 0 || random() < 1 / DATABASE_ONE_IN) {
      if (postgres.isRunning) returning.push(killDatabase())
    } else if (running.length > FEWEST_RUNNING) {
      returning.push(killGateway(running[Math.floor(random() * running.length)]!))
    }
  }
  await Promise.all(returning)
  return { kills, boundRequests }
}

/** Reads what is stored about the sender, and looks for acknowledged revocations that are not. */
async function storedData(
  cluster: GatewayCluster,
  senderId: string,
  { revoked }: Revocations,
): Promise<{ readonly requests: number; readonly faults: readonly string[] }> {
  const db = await openGatewayStore(cluster.postgres.url)
  try {
    const rows = await db.read.selectFrom('token_usage').select('requests').where('token_id', '=', senderId).execute()
    const tokens = await db.read.selectFrom('ingest_tokens').select(['id', 'revoked_at_ms']).execute()
    const events = await db.read
      .selectFrom('audit_events')
      .select(['subject_id', 'event'])
      .where('event', 'in', ['token.created', 'token.revoked'])
      .execute()
    const isRevoked = new Map(tokens.map(({ id, revoked_at_ms }) => [id, revoked_at_ms !== null]))
    const count = (id: string, event: string) =>
      events.filter((each) => each.subject_id === id && each.event === event).length
    const faults = revoked.flatMap(({ id }) => [
      ...(isRevoked.get(id) ? [] : [`the acknowledged revocation of ${id} is not stored`]),
      ...(count(id, 'token.created') === 1 ? [] : [`the creation of ${id} is not in the audit log once`]),
      ...(count(id, 'token.revoked') === 1 ? [] : [`the revocation of ${id} is not in the audit log once`]),
    ])
    return { requests: rows.reduce((sum, row) => sum + row.requests, 0), faults }
  } finally {
    await db.close()
  }
}
