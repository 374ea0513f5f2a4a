import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, openDatabase } from '@penstock/db'
import { sql } from 'kysely'
import { CoreProcess } from '../core/core-process.ts'
import { seededRandom } from '../load/gateway/token-text.ts'
import { endLeases, IssueLoad, untilDrained } from './issue-load.ts'

/** Two hooks get each event, so that a fault in what they share shows. */
const HOOKS = ['one', 'other']
const MAX_ANSWER_MS = 40
const START_TIMEOUT_MS = 180_000

export interface HookKillOptions {
  readonly kills: number
  readonly seed: number
  readonly perSecond: number
  /** The highest number of acknowledged changes before a kill; the actual number is drawn between 1 and this. */
  readonly maxPerLife: number
  /** Called after each start of the service. */
  readonly onStarted?: (start: { readonly life: number; readonly tookMs: number }) => void
}

export interface HookKillResult {
  readonly acknowledged: number
  readonly perSecond: number
  /** The longest time from a start of the service to its first output. */
  readonly longestStartMs: number
  /** The requests that the receivers got. */
  readonly received: number
  /** The entries of the log that say that the answer is unknown, and how many of these requests had arrived. */
  readonly unknown: number
  readonly unknownArrived: number
  readonly faults: readonly string[]
}

/**
 * Repeatedly kills a service while issues are created and their hooks are called, and starts it again. Then compares the
 * acknowledged issues with the requests that the receivers got and with the event log.
 */
export async function hookKillRuns({
  kills,
  seed,
  perSecond,
  maxPerLife,
  onStarted,
}: HookKillOptions): Promise<HookKillResult> {
  const random = seededRandom(seed)
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-hook-kill-'))
  const receiver = await Receiver.start(random)
  let longestStartMs = 0
  const start = async (life: number): Promise<CoreProcess> => {
    const beganMs = performance.now()
    const started = await CoreProcess.start(dataDir, {
      env: { PENSTOCK_ALLOW_LOCAL_WEBHOOKS: 'true' },
      startTimeoutMs: START_TIMEOUT_MS,
    })
    const tookMs = performance.now() - beganMs
    longestStartMs = Math.max(longestStartMs, tookMs)
    onStarted?.({ life, tookMs })
    return started
  }
  let service = await start(0)
  const db = openDatabase<object>(join(dataDir, 'core.db'))
  try {
    const project = await service.must('POST', '/projects', { name: 'work', path: 'work' })
    for (const name of HOOKS) {
      const hook = { url: `${receiver.url}/${name}`, push_events: false, issues_events: true }
      await service.must('POST', `/projects/${project.id}/hooks`, hook)
    }
    const load = new IssueLoad(project.id, perSecond)
    for (let life = 0; life < kills; life += 1) {
      await load.send(service, 1 + Math.floor(random() * maxPerLife))
      service.kill()
      await service[Symbol.asyncDispose]()
      await endLeases(db)
      service = await start(life + 1)
    }
    await untilDrained(db)
    const log = await readLog(db)
    const leftEvents = (await sql`select 1 from hook_payloads`.execute(db.read)).rows.length
    const faults = faultsIn(load.acknowledged, receiver.counts, log)
    if (leftEvents > 0) faults.push(`${leftEvents} events are left without a delivery`)
    await service.end()
    const unknown = [...log].filter(([, error]) => error !== null).map(([call]) => call)
    return {
      acknowledged: load.acknowledged.size,
      perSecond: (load.acknowledged.size * 1_000) / load.elapsedMs,
      longestStartMs,
      received: [...receiver.counts.values()].reduce((sum, count) => sum + count, 0),
      unknown: unknown.length,
      unknownArrived: unknown.filter((call) => receiver.counts.has(call)).length,
      faults: faults.slice(0, 50),
    }
  } finally {
    await service[Symbol.asyncDispose]()
    await db.close()
    receiver.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Counts the requests for each hook and issue: `one: issue 7`. */
class Receiver {
  readonly counts = new Map<string, number>()
  readonly url: string
  readonly #server: Server

  static async start(random: () => number): Promise<Receiver> {
    const server = createServer({ keepAliveTimeout: 600_000 })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return new Receiver(server, random)
  }

  private constructor(server: Server, random: () => number) {
    this.#server = server
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    server.on('request', async (request, response) => {
      const chunks = await request.toArray().catch(() => undefined)
      if (chunks === undefined) return
      const { object_attributes } = JSON.parse(Buffer.concat(chunks).toString())
      const call = `${request.url!.slice(1)}: ${object_attributes.title}`
      this.counts.set(call, (this.counts.get(call) ?? 0) + 1)
      await sleep(random() * MAX_ANSWER_MS)
      response.end('ok')
    })
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}

/** Returns the error of each call in the event log, or null. */
async function readLog({ read }: Db<object>): Promise<Map<string, string | null>> {
  const { rows } = await sql<{
    url: string
    request_data: string
    internal_error: string | null
    ended: number | null
  }>`
    select url, request_data, internal_error, ended_at_ms as ended from hook_calls`.execute(read)
  return new Map(
    rows.map(({ url, request_data, internal_error, ended }) => [
      `${url.split('/').at(-1)}: ${JSON.parse(request_data).object_attributes.title}`,
      ended === null ? 'not ended' : internal_error,
    ]),
  )
}

function faultsIn(
  acknowledged: ReadonlySet<string>,
  counts: ReadonlyMap<string, number>,
  log: ReadonlyMap<string, string | null>,
): string[] {
  const faults: string[] = []
  for (const [call, count] of counts) {
    if (count > 1) faults.push(`${call} was sent ${count} times`)
    if (!log.has(call)) faults.push(`${call} was sent and is not in the log`)
  }
  for (const title of acknowledged) {
    for (const hook of HOOKS) {
      const call = `${hook}: ${title}`
      if (!log.has(call)) faults.push(`${call} was acknowledged, and is neither sent nor in the log`)
      else if (log.get(call) === null && !counts.has(call))
        faults.push(`${call} did not arrive, and the log does not say so`)
      else if (log.get(call) === 'not ended') faults.push(`${call} is not ended in the log`)
    }
  }
  return faults
}
