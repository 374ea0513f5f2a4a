import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Db, openDatabase } from '@penstock/db'
import { refusedUrl } from '@penstock/testkit'
import { sql } from 'kysely'
import { cpuSeconds } from '../../collector/process-cpu.ts'
import type { CoreProcess } from '../../core/core-process.ts'
import { exportedProject, signals, startService } from '../../export/exporting-service.ts'
import { numberedPipeline } from '../../export/numbered-pipeline.ts'
import { arrived } from '../export/served-intake.ts'
import { type Sink, startSink } from '../export/sink-process.ts'
import { seededRandom } from '../gateway/token-text.ts'
import { HookReceivers } from './hook-receivers.ts'

/** The behaviour of receivers: answer at once, refuse connections, answer after the time for a request, or answer shortly before it. */
export const kinds = ['healthy', 'refused', 'hanging', 'slow'] as const
export type Kind = (typeof kinds)[number]

interface HookedProject {
  readonly id: number
  readonly kind: Kind
}

/** The arrivals of the changes of one phase. */
export interface Arrivals {
  /** Milliseconds from the request of the change to its response, and to the receiver of a healthy webhook. */
  readonly changes: readonly number[]
  readonly times: readonly number[]
  readonly missing: () => number
}

const CREATED_AT_ONCE = 16
const MAX_IN_PROGRESS = 256
/** The limits of phases, so that the measurement ends even if the service cannot keep up. */
const PAUSED_WITHIN_MS = 60_000
const ARRIVED_WITHIN_MS = 30_000
const STALLS_AFTER_MS = 30_000
/** How much longer than planned a phase may start calls. */
const OVERTIME = 1.5

/** A service in its own process, with projects that have one webhook each, and a sink for exported pipelines. */
export class HookWorld implements AsyncDisposable {
  readonly projects: readonly HookedProject[]
  readonly #service: CoreProcess
  readonly #dataDir: string
  readonly #db: Db<object>
  readonly #receivers: HookReceivers
  readonly #sink: Sink
  readonly #exported: number
  readonly #random = seededRandom(1)
  /** When the change of each title was requested, for titles that have not arrived. */
  readonly #requestedMs = new Map<string, number>()
  #arrivals: number[] = []
  #changes: number[] = []
  #lastIssue = 0
  #lastPipeline = 0
  /** The number of pipelines that the service has acknowledged. */
  #recorded = 0

  static async start(count: number): Promise<HookWorld> {
    const dataDir = mkdtempSync(join(tmpdir(), 'penstock-hook-load-'))
    const sink = await startSink()
    const service = await startService(dataDir, sink.url, { env: { PENSTOCK_ALLOW_LOCAL_WEBHOOKS: 'true' } })
    await service.must('PUT', '/application/settings', { issues_create_limit: 0 })
    const receivers = await HookReceivers.start()
    const refused = new URL(await refusedUrl()).port
    const projects: HookedProject[] = []
    const create = async (index: number) => {
      const bad = kinds.slice(1)
      const kind = index % 10 === 0 ? bad[(index / 10) % bad.length]! : 'healthy'
      const project = await service.must('POST', '/projects', { name: `work ${index}`, path: `work-${index}` })
      const url = kind === 'refused' ? `http://127.0.0.1:${refused}/` : receivers.urlOf(kind, index)
      const hook = { url, push_events: false, issues_events: true }
      await service.must('POST', `/projects/${project.id}/hooks`, hook)
      projects.push({ id: project.id, kind })
    }
    for (let from = 0; from < count; from += CREATED_AT_ONCE) {
      const some = Array.from({ length: Math.min(CREATED_AT_ONCE, count - from) }, (_, index) => from + index)
      await Promise.all(some.map(create))
    }
    return new HookWorld({ service, dataDir, receivers, sink, projects, exported: await exportedProject(service) })
  }

  private constructor(parts: {
    readonly service: CoreProcess
    readonly dataDir: string
    readonly receivers: HookReceivers
    readonly sink: Sink
    readonly projects: readonly HookedProject[]
    readonly exported: number
  }) {
    this.projects = parts.projects
    this.#service = parts.service
    this.#dataDir = parts.dataDir
    this.#receivers = parts.receivers
    this.#sink = parts.sink
    this.#exported = parts.exported
    this.#db = openDatabase<object>(join(parts.dataDir, 'core.db'))
    this.#receivers.onHealthy = (title) => {
      const requestedMs = this.#requestedMs.get(title)
      if (requestedMs === undefined) return
      this.#requestedMs.delete(title)
      this.#arrivals.push(performance.now() - requestedMs)
    }
  }

  countOf(kind: Kind): number {
    return this.projects.filter((project) => project.kind === kind).length
  }

  /** Returns projects drawn at random. */
  shuffled(count: number): HookedProject[] {
    return Array.from({ length: count }, () => this.projects[Math.floor(this.#random() * this.projects.length)]!)
  }

  /** Starts a new list of arrivals. */
  arrivalsFromNow(): Arrivals {
    this.#requestedMs.clear()
    const [times, changes]: [number[], number[]] = [[], []]
    this.#arrivals = times
    this.#changes = changes
    return { changes, times, missing: () => this.#requestedMs.size }
  }

  /** Creates an issue in each of the projects, at this rate. Returns how many of them were not created. */
  async createIssues(projects: readonly HookedProject[], perSecond: number): Promise<number> {
    let created = 0
    await paced(projects.length, perSecond, async (index) => {
      const { id, kind } = projects[index]!
      this.#lastIssue += 1
      const title = `issue ${this.#lastIssue}`
      const beganMs = performance.now()
      if (kind === 'healthy') this.#requestedMs.set(title, beganMs)
      const answer = await this.#service.call('POST', `/projects/${id}/issues`, { title }).catch(() => undefined)
      if (answer?.status !== 201) {
        this.#requestedMs.delete(title)
        return
      }
      created += 1
      this.#changes.push(performance.now() - beganMs)
    })
    return projects.length - created
  }

  /** Records finished pipelines at this rate, and returns how many a second were exported. */
  async exportPipelines(perSecond: number, seconds: number): Promise<number> {
    const beganMs = performance.now()
    const before = this.#recorded
    await paced(Math.round(perSecond * seconds), perSecond, async () => {
      this.#lastPipeline += 1
      const number = this.#lastPipeline
      const record = JSON.parse(numberedPipeline(number)) as object
      const path = `/projects/${this.#exported}/pipeline_records/${number}`
      const answer = await this.#service.call('PUT', path, record).catch(() => undefined)
      if (answer !== undefined && answer.status < 300) this.#recorded += 1
    })
    await arrived(this.#sink, this.#recorded * signals.length, STALLS_AFTER_MS)
    return ((this.#recorded - before) * 1_000) / (performance.now() - beganMs)
  }

  /**
   * Resolves when every hook that fails has been paused, or after a minute. A pause may have ended by then. Returns how many
   * have not been paused.
   */
  async untilPaused(): Promise<number> {
    const failing = this.countOf('refused') + this.countOf('hanging')
    const begunPauses = async () => {
      const { rows } = await sql<{ begun: number }>`
        select count(*) as begun from hooks where disabled_until_ms is not null`.execute(this.#db.read)
      return rows[0]!.begun
    }
    const giveUpMs = performance.now() + PAUSED_WITHIN_MS
    while ((await begunPauses()) < failing && performance.now() < giveUpMs) await sleep(500)
    return Math.max(failing - (await begunPauses()), 0)
  }

  async pausedOf(kind: Kind): Promise<number> {
    const paused = new Set(await this.#paused())
    return this.projects.filter((project) => project.kind === kind && paused.has(project.id)).length
  }

  async #paused(): Promise<number[]> {
    const { rows } = await sql<{ id: number }>`
      select project_id as id from hooks where disabled_until_ms > ${Date.now()}`.execute(this.#db.read)
    return rows.map(({ id }) => id)
  }

  /** Resolves when all changes have arrived, or after half a minute. */
  async untilArrived({ missing }: Arrivals): Promise<void> {
    const giveUpMs = performance.now() + ARRIVED_WITHIN_MS
    while (missing() > 0 && performance.now() < giveUpMs) await sleep(100)
  }

  cpuSeconds(): number {
    return cpuSeconds(this.#service.pid)
  }

  /** The resident memory of the service. */
  memoryMb(): number {
    const status = readFileSync(`/proc/${this.#service.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1_024
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service[Symbol.asyncDispose]()
    await this.#db.close()
    this.#receivers.close()
    await this.#sink[Symbol.asyncDispose]()
    rmSync(this.#dataDir, { recursive: true, force: true })
  }
}

/**
 * Starts `count` calls at this rate, and fewer if too many are in progress: no call starts after half as long again as planned.
 * Resolves when all calls have ended.
 */
async function paced(count: number, perSecond: number, call: (index: number) => Promise<void>): Promise<void> {
  const inProgress = new Set<Promise<void>>()
  const beganMs = performance.now()
  const lastMs = beganMs + ((count * 1_000) / perSecond) * OVERTIME
  for (let started = 0; started < count && performance.now() < lastMs; ) {
    const due = Math.min(Math.floor(((performance.now() - beganMs) * perSecond) / 1_000) + 1, count)
    for (; started < due && inProgress.size < MAX_IN_PROGRESS; started += 1) {
      const called = call(started).finally(() => inProgress.delete(called))
      inProgress.add(called)
    }
    await sleep(2)
  }
  await Promise.all(inProgress)
}
