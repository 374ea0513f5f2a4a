import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '@penstock/db'
import type { Answer } from '../../core/core-process.ts'
import { commitsWithoutEvent, repositoryFaults, untilSwept } from '../../core/stored-data-checks.ts'
import { exportedProject, signals } from '../../export/exporting-service.ts'
import { findInconsistencies } from '../../export/kill-faults.ts'
import { drained, makeDue } from '../../export/kill-runs.ts'
import { JOBS, numberedPipeline } from '../../export/numbered-pipeline.ts'
import { idOf } from '../../gateway/numbered-body.ts'
import { Outages } from '../outages.ts'
import { type ClusterHost, type ClusterSize, CoreCluster } from './core-cluster.ts'
import { type Acceptance, ExportReceiver } from './export-receiver.ts'

export interface ClusterRunOptions extends ClusterSize {
  readonly pipelines: number
  readonly random: () => number
  /**
   * Whether to make open deliveries due in the end. Otherwise the leases of killed processes pass first, which takes two
   * minutes.
   */
  readonly skipsWaits: boolean
}

export interface ClusterRunResult {
  readonly seconds: number
  /** The number of kills of cores, workers and the database. */
  readonly kills: Readonly<Record<'core' | 'worker' | 'database', number>>
  /** The answers of the cores to records and commits, by status; those that did not arrive are counted as 0. */
  readonly answers: Readonly<Record<number, number>>
  readonly exports: number
  readonly traces: number
  /** How often a signal of a pipeline was accepted again, with the same ids, because the first answer was lost. */
  readonly again: number
  readonly commits: number
  /** The errors that processes have logged, by event. */
  readonly loggedErrors: Readonly<Record<string, number>>
  readonly faults: readonly string[]
}

const WRITERS = 12
/** One in this many records is followed by a commit to the repository that all cores write to. */
const COMMIT_ONE_IN = 25
const RETRY_PAUSE_MS = 250
/** The pauses between kills, and the time for which the killed process is away. */
const pausesMs = { between: [1_500, 5_000], processAway: [200, 3_000], databaseAway: [300, 3_000] } as const
const DATABASE_ONE_IN = 10
/** The limit of processes that are away at a time, which slows the kills down on a machine on which a start takes long. */
const MOST_AWAY = 2
/** A batch may take this long until its deliveries are settled. */
const SETTLED_WITHIN_MS = 60_000
const STATUSES_OF_RETRIES = [0, 409, 429, 503]

/**
 * Puts records of pipelines into several cores, which also write to one repository, while cores, workers and the database are
 * killed at random. Then compares what was acknowledged with what the receiver has accepted.
 */
export async function clusterRun(options: ClusterRunOptions): Promise<ClusterRunResult> {
  const { pipelines, random, skipsWaits } = options
  await using receiver = await ExportReceiver.start()
  await using cluster = await CoreCluster.start(options, receiver)
  const outages = new Outages()
  const startMs = performance.now()
  const projectId = await exportedProject(cluster.running('core')[0]!.running!)
  const intake = new ClusterIntake(cluster, projectId, random)
  const killing = new RandomKills(cluster, outages, random)
  const over = new AbortController()
  const killed = killing.run(over.signal)
  await intake.putAll(pipelines)
  over.abort()
  await killed
  const db = openDatabase<object>(cluster.postgres.url)
  try {
    if (skipsWaits) {
      // Deliveries may be made due only while no process works on them. Then one worker exports them.
      for (const host of cluster.hosts) await host.end()
      await makeDue(db)
      await cluster.hosts.find(({ role }) => role === 'worker')!.start()
    }
    await drained(db)
    await untilSwept(db)
    const seconds = (performance.now() - startMs) / 1_000
    for (const host of cluster.hosts) await host.end()
    const faults = [
      ...intake.faults,
      ...(await findInconsistencies(db)),
      ...(await repositoryFaults(cluster.sharedDir, projectId, intake.shas)),
      ...(await commitsWithoutEvent(db, intake.shas)),
      ...exportFaults(receiver, pipelines),
      ...unexplainedRepeats(receiver, cluster, outages),
    ]
    return {
      seconds,
      kills: { ...killing.kills, database: outages.count },
      answers: intake.answers,
      exports: receiver.ledger.size,
      traces: receiver.traces.size,
      again: receiver.again,
      commits: intake.shas.length,
      loggedErrors: Object.fromEntries(cluster.loggedErrors()),
      faults: [...new Set(faults)].slice(0, 30),
    }
  } finally {
    await db.close()
  }
}

/** Puts records into random cores, and commits files through them. What was not acknowledged is sent again. */
class ClusterIntake {
  readonly answers: Record<number, number> = {}
  readonly shas: string[] = []
  readonly faults: string[] = []
  readonly #cluster: CoreCluster
  readonly #projectId: number
  readonly #random: () => number

  constructor(cluster: CoreCluster, projectId: number, random: () => number) {
    this.#cluster = cluster
    this.#projectId = projectId
    this.#random = random
  }

  async putAll(pipelines: number): Promise<void> {
    let next = 1
    const putRepeatedly = async () => {
      while (next <= pipelines) {
        const number = next
        next += 1
        await this.#put(number)
        if (number % COMMIT_ONE_IN === 0) await this.#commit(number)
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, putRepeatedly))
  }

  async #put(number: number): Promise<void> {
    const path = `/projects/${this.#projectId}/pipeline_records/${number}`
    const body = JSON.parse(numberedPipeline(number)) as object
    const { status, json } = await this.#untilAnswered('PUT', path, body)
    if (status >= 300) this.faults.push(`${idOf(number)}: ${status} ${JSON.stringify(json)}`)
  }

  async #commit(number: number): Promise<void> {
    const path = `/projects/${this.#projectId}/repository/commits`
    const actions = [{ action: 'create', file_path: `files/${number}`, content: `content ${number}\n` }]
    const body = { branch: 'main', commit_message: `commit ${number}`, actions }
    const { status, json } = await this.#untilAnswered('POST', path, body)
    if (status < 300) this.shas.push(json.id)
    // The answer to an earlier attempt was lost, and its commit is stored.
    else if (!(status === 400 && /already exists/.test(JSON.stringify(json))))
      this.faults.push(`commit ${number}: ${status} ${JSON.stringify(json)}`)
  }

  /** Sends a request to random cores until one of them gives a final answer. */
  async #untilAnswered(method: string, path: string, body: object): Promise<Answer> {
    for (;;) {
      const cores = this.#cluster.running('core')
      const core = cores[Math.floor(this.#random() * cores.length)]?.running
      const answer = await core?.call(method, path, body).catch(() => undefined)
      const status = answer?.status ?? 0
      this.answers[status] = (this.answers[status] ?? 0) + 1
      if (answer !== undefined && !STATUSES_OF_RETRIES.includes(status)) return answer
      await sleep(RETRY_PAUSE_MS)
    }
  }
}

/** Kills processes and the database, and starts them again. At least one core and one worker keep running. */
class RandomKills {
  readonly kills = { core: 0, worker: 0 }
  readonly #cluster: CoreCluster
  readonly #outages: Outages
  readonly #random: () => number

  constructor(cluster: CoreCluster, outages: Outages, random: () => number) {
    this.#cluster = cluster
    this.#outages = outages
    this.#random = random
  }

  /** Kills until the signal aborts. Resolves when everything runs again. */
  async run(signal: AbortSignal): Promise<void> {
    const returning: Promise<void>[] = []
    while (!signal.aborted) {
      await sleep(this.#between(pausesMs.between), undefined, { signal }).catch(() => {})
      if (signal.aborted) break
      if (this.#random() < 1 / DATABASE_ONE_IN) {
        if (this.#cluster.postgres.isRunning) returning.push(this.#killDatabase())
        continue
      }
      const running = this.#cluster.running()
      if (this.#cluster.hosts.length - running.length >= MOST_AWAY) continue
      const host = running[Math.floor(this.#random() * running.length)]!
      if (this.#cluster.running(host.role).length > 1) returning.push(this.#killProcess(host))
    }
    await Promise.all(returning)
  }

  async #killProcess(host: ClusterHost): Promise<void> {
    this.kills[host.role] += 1
    await host.kill()
    await sleep(this.#between(pausesMs.processAway))
    await host.startAgain()
  }

  async #killDatabase(): Promise<void> {
    const { postgres } = this.#cluster
    this.#outages.begin()
    await postgres.kill()
    await sleep(this.#between(pausesMs.databaseAway))
    await postgres.startAgain()
    this.#outages.end()
  }

  #between([leastMs, mostMs]: readonly [number, number]): number {
    return leastMs + this.#random() * (mostMs - leastMs)
  }
}

/** Compares the received telemetry with one export of each pipeline: every signal, and one trace with the spans of its jobs. */
function exportFaults({ ledger, traces }: ExportReceiver, pipelines: number): string[] {
  const faults: string[] = []
  for (let number = 1; number <= pipelines; number += 1) {
    for (const signal of signals) {
      if (!ledger.has(`${signal} ${idOf(number)}`)) faults.push(`the ${signal} of ${idOf(number)} were not exported`)
    }
  }
  if (ledger.size !== pipelines * signals.length)
    faults.push(`${ledger.size} signals were exported, instead of ${pipelines * signals.length}`)
  if (traces.size !== pipelines) faults.push(`there are ${traces.size} traces of ${pipelines} pipelines`)
  const ofPipelines = new Set<string>()
  for (const [traceId, trace] of traces) {
    const named = [...trace.pipelines]
    if (named.length !== 1) faults.push(`the trace ${traceId} belongs to ${named.length} pipelines`)
    if (trace.spanIds.size !== JOBS + 1) faults.push(`the trace ${traceId} has ${trace.spanIds.size} span ids`)
    for (const id of named) {
      if (ofPipelines.has(id)) faults.push(`${id} has several traces`)
      ofPipelines.add(id)
    }
  }
  return faults
}

/** Returns the repeated exports of which the sender was not killed, and the database not away, before they could be settled. */
function unexplainedRepeats({ ledger }: ExportReceiver, cluster: CoreCluster, outages: Outages): string[] {
  const isInterrupted = ({ sender, atMs }: Acceptance) => {
    const killedAtMs = cluster.life(sender)?.killedAtMs ?? Number.POSITIVE_INFINITY
    return killedAtMs - atMs < SETTLED_WITHIN_MS || outages.beganWithin(atMs, SETTLED_WITHIN_MS)
  }
  return [...ledger]
    .filter(([, acceptances]) => !acceptances.slice(0, -1).every(isInterrupted))
    .map(([name]) => `${name} was exported again without a lost answer`)
}
