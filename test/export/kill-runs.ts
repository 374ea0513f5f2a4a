import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, openDatabase } from '@penstock/db'
import { sql } from 'kysely'
import type { CoreProcess } from '../core/core-process.ts'
import { seededRandom } from '../load/gateway/token-text.ts'
import { exportedProject, signals, startService, tokens } from './exporting-service.ts'
import { findInconsistencies } from './kill-faults.ts'
import { RecordIntakeLoad } from './kill-intake.ts'
import { type Cause, Upstream } from './upstream.ts'
import { ATTEMPT_SECONDS, phasedBehavior } from './upstream-phases.ts'

export interface KillOptions {
  readonly kills: number
  readonly seed: number
  readonly perSecond: number
  /** The highest number of acknowledgements before a kill; the actual number is drawn between 1 and this. */
  readonly maxPerLife: number
  /**
   * Whether to make all open deliveries due after a kill. Otherwise the leases of the killed process and the waits between
   * attempts pass first, which can take minutes.
   */
  readonly skipsWaits: boolean
  /** The number of kills between checks for inconsistencies, which take a while with a million rows. */
  readonly checkEvery: number
  /** The URL of PostgreSQL, which keeps running; without it, SQLite. */
  readonly databaseUrl?: string | undefined
}

/** Repeated exports of one signal, grouped by the lost reply that explains them. */
export interface Extras {
  readonly life: number
  readonly signal: string
  readonly cause: Cause
  readonly ids: string[]
}

export interface KillResult {
  readonly kills: number
  readonly acknowledged: number
  readonly perSecond: number
  readonly unanswered: number
  readonly tooBusy: number
  readonly accepted: number
  readonly extras: readonly Extras[]
  /** The number of accepted requests with a lost reply, by cause. */
  readonly lostAnswers: Readonly<Record<Cause, number>>
  readonly requests: Upstream['requests']
  readonly slowestStartMs: number
  readonly drainSeconds: number
  readonly faults: readonly string[]
}

/**
 * Repeatedly kills a service while it accepts and exports records, and starts it again. Then lets it export the rest, and
 * compares the acknowledged records with those that the upstream has accepted.
 *
 * The records, the behavior of the upstream and the number of acknowledgements before each kill follow from `seed`; the timing
 * depends on the machine.
 */
export async function killRuns(options: KillOptions): Promise<KillResult> {
  const { kills, seed, perSecond, maxPerLife, skipsWaits, checkEvery, databaseUrl } = options
  const random = seededRandom(seed)
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-kill-'))
  await using upstream = await Upstream.start()
  const load = new RecordIntakeLoad()
  const faults: string[] = []
  const start = () => startService(dataDir, upstream.url, { databaseUrl, attemptSeconds: ATTEMPT_SECONDS })
  let service = await start()
  const db = openDatabase<object>(databaseUrl ?? join(dataDir, 'core.db'))
  try {
    const projectId = await exportedProject(service)
    const behavior = phasedBehavior(random)
    const loadedMs = { sum: 0, slowestStart: 0 }
    for (let life = 0; life < kills; life += 1) {
      upstream.behavior = behavior
      const beganMs = performance.now()
      await load.send(service, projectId, {
        perSecond,
        until: 1 + Math.floor(random() * maxPerLife),
        onReached: () => {
          loadedMs.sum += performance.now() - beganMs
          upstream.lifeEnds()
          service.kill()
        },
      })
      await service[Symbol.asyncDispose]()
      faults.push(...faultsLogged(service))
      const open = await openExports(db)
      upstream.recordUnsettled((signal, id) => open.has(`${signal} ${id}`))
      if ((life + 1) % checkEvery === 0) faults.push(...(await findInconsistencies(db)))
      if (skipsWaits) await makeDue(db)
      upstream.lifeBegins()
      const startedMs = performance.now()
      service = await start()
      loadedMs.slowestStart = Math.max(loadedMs.slowestStart, performance.now() - startedMs)
    }
    const acknowledgedUnderWay = load.acknowledged.size
    upstream.behavior = () => ({ play: 'accept' })
    await load.sendRest(service, projectId)
    const drainMs = performance.now()
    await drained(db)
    const drainSeconds = (performance.now() - drainMs) / 1_000
    faults.push(
      ...load.faults,
      ...(await findInconsistencies(db)),
      ...lost(load, upstream),
      ...unexpectedCredentials(upstream),
    )
    const { extras, unexplained } = explained(upstream)
    await service.end()
    faults.push(...unexplained, ...faultsLogged(service))
    return {
      kills,
      acknowledged: load.acknowledged.size,
      perSecond: (acknowledgedUnderWay * 1_000) / loadedMs.sum,
      unanswered: load.unanswered,
      tooBusy: load.tooBusy,
      accepted: upstream.ledger.size,
      extras,
      lostAnswers: lostAnswers(upstream),
      requests: upstream.requests,
      slowestStartMs: loadedMs.slowestStart,
      drainSeconds,
      faults: [...new Set(faults)].slice(0, 50),
    }
  } finally {
    await service[Symbol.asyncDispose]()
    await db.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Returns `<signal> <id>` of every open delivery. */
async function openExports({ read }: Db<object>): Promise<Set<string>> {
  const { rows } = await sql<{ key: string }>`select key from deliveries where state = 'open'`.execute(read)
  return new Set(rows.map(({ key }) => nameOf(key)))
}

/** Returns `<signal> <id>` for a delivery key, which ends with the number of the pipeline and the signal. */
function nameOf(key: string): string {
  const [number, signal] = key.split(' ').slice(-2)
  return `${signal} n${number!.padStart(8, '0')}`
}

/** Makes all open deliveries due, as if time had passed; no process is working on them. */
export async function makeDue(db: Db<object>): Promise<void> {
  await db.write((tx) => sql`update deliveries set due_at_ms = enqueued_at_ms where state = 'open'`.execute(tx))
}

const DRAIN_LIMIT_MS = 10 * 60_000
const POLL_MS = 50

/** Resolves when no delivery is open. */
export async function drained({ read }: Db<object>): Promise<void> {
  const giveUpAtMs = performance.now() + DRAIN_LIMIT_MS
  const one = sql<{ key: string; reason: string }>`select key, reason from deliveries where state = 'open' limit 1`
  for (;;) {
    const { rows } = await one.execute(read)
    if (rows.length === 0) return
    if (performance.now() > giveUpAtMs) throw new Error(`still open: ${JSON.stringify(rows)}`)
    await sleep(POLL_MS)
  }
}

function lost({ acknowledged }: RecordIntakeLoad, { ledger }: Upstream): string[] {
  return signals.flatMap((signal) =>
    [...acknowledged]
      .filter((id) => !ledger.has(`${signal} ${id}`))
      .map((id) => `${id} was acknowledged, but its ${signal} were not accepted`),
  )
}

function unexpectedCredentials({ credentials }: Upstream): string[] {
  const ours: (string | undefined)[] = Object.values(tokens).map((token) => `Bearer ${token}`)
  return [...credentials].filter((one) => !ours.includes(one)).map((one) => `sent with the credential ${one}`)
}

/** Finds the lost reply that explains each repeated acceptance of one pipeline and signal. */
function explained({ ledger }: Upstream): { extras: Extras[]; unexplained: string[] } {
  const extras = new Map<string, Extras>()
  const unexplained: string[] = []
  for (const [name, acceptances] of ledger) {
    const [signal, id] = name.split(' ') as [string, string]
    for (const acceptance of acceptances.slice(0, -1)) {
      const { life } = acceptance
      const cause = acceptance.cause ?? (acceptance.unsettled.has(id) ? 'crash' : undefined)
      if (cause === undefined) {
        unexplained.push(`${name} was accepted and answered in life ${life}, and accepted again`)
        continue
      }
      const key = `${life} ${signal} ${cause}`
      const listed = extras.get(key) ?? { life, signal, cause, ids: [] }
      extras.set(key, listed)
      listed.ids.push(id)
    }
  }
  return { extras: [...extras.values()], unexplained }
}

function lostAnswers({ ledger }: Upstream): Record<Cause, number> {
  const counts: Record<Cause, number> = { reset: 0, deadline: 0, crash: 0 }
  for (const { cause, unsettled } of new Set([...ledger.values()].flat())) {
    if (cause !== undefined) counts[cause] += 1
    else if (unsettled.size > 0) counts.crash += 1
  }
  return counts
}

/** Returns the errors that the service logged. */
const faultsLogged = (service: CoreProcess): string[] =>
  service.stderr
    .split('\n')
    .filter((line) => /"level":"(?:error|fatal)"/.test(line))
    .map((line) => `logged: ${line}`)
