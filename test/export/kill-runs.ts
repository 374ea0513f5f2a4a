import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, openDatabase } from '@penstock/db'
import { sql } from 'kysely'
import type { CoreProcess } from '../core/core-process.ts'
import { seededRandom } from '../load/gateway/token-text.ts'
import { exportedProject, signals, startService, tokens } from './exporting-service.ts'
import { halfChanges } from './kill-faults.ts'
import { RecordIntakeLoad } from './kill-intake.ts'
import { type Cause, Upstream } from './upstream.ts'
import { ATTEMPT_SECONDS, moodyManner } from './upstream-moods.ts'

export interface KillOptions {
  readonly kills: number
  readonly seed: number
  readonly perSecond: number
  /** Of one life, drawn between 1 and this: acknowledgements before the kill. */
  readonly mostPerLife: number
  /**
   * What a killed process had claimed is left alone until its lease ends; likewise what waits for its next attempt. Either can
   * take minutes: `false` waits for them, `true` lets the next life find them due.
   */
  readonly hastened: boolean
  /** It is looked for half changes after every so many kills: with a million rows that takes a while. */
  readonly lookEvery: number
  /** Of PostgreSQL, which goes on running; without it, SQLite. */
  readonly databaseUrl?: string | undefined
}

/** Accepted exports beyond the first of their pipeline and signal, by the lost answer that explains them. */
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
  /** Requests that were accepted and whose answers reached nobody. */
  readonly lostAnswers: Readonly<Record<Cause, number>>
  readonly requests: Upstream['requests']
  readonly slowestStartMs: number
  readonly drainSeconds: number
  readonly faults: readonly string[]
}

/**
 * Kills a service that takes records in and exports them, in the midst of both, and starts it again; so often. Then lets it
 * export all that is left, and compares what was acknowledged with what the upstream has accepted.
 *
 * What is sent, the moods of the upstream and the number of acknowledgements before each kill follow from `seed`; how things
 * overlap is up to the machine.
 */
export async function killRuns(options: KillOptions): Promise<KillResult> {
  const { kills, seed, perSecond, mostPerLife, hastened, lookEvery, databaseUrl } = options
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
    const moody = moodyManner(random)
    const loadedMs = { sum: 0, slowestStart: 0 }
    for (let life = 0; life < kills; life += 1) {
      upstream.manner = moody
      const beganMs = performance.now()
      await load.send(service, projectId, {
        perSecond,
        until: 1 + Math.floor(random() * mostPerLife),
        onReached: () => {
          loadedMs.sum += performance.now() - beganMs
          upstream.lifeEnds()
          service.kill()
        },
      })
      await service[Symbol.asyncDispose]()
      faults.push(...faultsLogged(service))
      const open = await openExports(db)
      upstream.unnoted((signal, id) => open.has(`${signal} ${id}`))
      if ((life + 1) % lookEvery === 0) faults.push(...(await halfChanges(db)))
      if (hastened) await makeDue(db)
      upstream.lifeBegins()
      const startedMs = performance.now()
      service = await start()
      loadedMs.slowestStart = Math.max(loadedMs.slowestStart, performance.now() - startedMs)
    }
    const acknowledgedUnderWay = load.acknowledged.size
    upstream.manner = () => ({ play: 'accept' })
    await load.sendRest(service, projectId)
    const drainMs = performance.now()
    await drained(db)
    const drainSeconds = (performance.now() - drainMs) / 1_000
    faults.push(...load.faults, ...(await halfChanges(db)), ...lost(load, upstream), ...strangers(upstream))
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

/** `<signal> <id>` of what is not settled. */
async function openExports({ read }: Db<object>): Promise<Set<string>> {
  const { rows } = await sql<{ key: string }>`select key from deliveries where state = 'open'`.execute(read)
  return new Set(rows.map(({ key }) => nameOf(key)))
}

/** Keys end with the number of the pipeline and the signal. */
function nameOf(key: string): string {
  const [number, signal] = key.split(' ').slice(-2)
  return `${signal} n${number!.padStart(8, '0')}`
}

/** As time would; nobody works on them meanwhile. */
async function makeDue(db: Db<object>): Promise<void> {
  await db.write((tx) => sql`update deliveries set due_at_ms = enqueued_at_ms where state = 'open'`.execute(tx))
}

const DRAIN_LIMIT_MS = 10 * 60_000
const LOOK_AGAIN_MS = 50

/** Resolves when nothing is left to be exported. */
async function drained({ read }: Db<object>): Promise<void> {
  const giveUpAtMs = performance.now() + DRAIN_LIMIT_MS
  const one = sql<{ key: string; reason: string }>`select key, reason from deliveries where state = 'open' limit 1`
  for (;;) {
    const { rows } = await one.execute(read)
    if (rows.length === 0) return
    if (performance.now() > giveUpAtMs) throw new Error(`still open: ${JSON.stringify(rows)}`)
    await sleep(LOOK_AGAIN_MS)
  }
}

function lost({ acknowledged }: RecordIntakeLoad, { ledger }: Upstream): string[] {
  return signals.flatMap((signal) =>
    [...acknowledged]
      .filter((id) => !ledger.has(`${signal} ${id}`))
      .map((id) => `${id} was acknowledged, and its ${signal} have not been accepted`),
  )
}

function strangers({ credentials }: Upstream): string[] {
  const ours: (string | undefined)[] = Object.values(tokens).map((token) => `Bearer ${token}`)
  return [...credentials].filter((one) => !ours.includes(one)).map((one) => `sent with the credential ${one}`)
}

/** Of one pipeline and signal, every acceptance but the last has to be one whose answer was lost. */
function explained({ ledger }: Upstream): { extras: Extras[]; unexplained: string[] } {
  const extras = new Map<string, Extras>()
  const unexplained: string[] = []
  for (const [name, acceptances] of ledger) {
    const [signal, id] = name.split(' ') as [string, string]
    for (const acceptance of acceptances.slice(0, -1)) {
      const { life } = acceptance
      const cause = acceptance.cause ?? (acceptance.unnoted.has(id) ? 'crash' : undefined)
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
  for (const { cause, unnoted } of new Set([...ledger.values()].flat())) {
    if (cause !== undefined) counts[cause] += 1
    else if (unnoted.size > 0) counts.crash += 1
  }
  return counts
}

/** What it took for a fault of its own. */
const faultsLogged = (service: CoreProcess): string[] =>
  service.stderr
    .split('\n')
    .filter((line) => /"level":"(?:error|fatal)"/.test(line))
    .map((line) => `logged: ${line}`)
