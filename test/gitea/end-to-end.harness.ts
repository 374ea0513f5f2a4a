import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeRequest, type LogRecord, type Signal, type Span } from '@penstock/otlp'
import { ScriptedServer } from '@penstock/testkit'
import { CoreProcess } from '../core/core-process.ts'
import { spansWithResource } from './exported-spans.harness.ts'
import { GiteaServer, PUBLIC_URL } from './gitea-server.ts'
import { type ArrivingHook, HookRelay, type RelayedHook } from './hook-relay.ts'
import { jobVariables, type RanJob, runNextJob } from './play.ts'
import { type Bundle, type HookKind, hookKinds, Pottery, SECRET } from './pottery.ts'
import { type Task, TestRunner } from './test-runner.ts'

const bin = createRequire(import.meta.url).resolve('@penstock/cli/bin/penstock.mjs')
const SETTLE_SECONDS = 2
const EXPORT_DEADLINE_MS = 120_000
const POLL_MS = 500
/** The job `report` once, and the job `publish` twice. */
const SKIPPED_JOBS = 3

/** An attempt of a run, as the server and the runner describe it. */
export interface PlayedAttempt {
  readonly name: string
  readonly attempt: number
  readonly bundle: Bundle
  readonly jobs: readonly RanJob[]
}

/** The output of `penstock trace-context` inside a job: without the id of the job, which none of its variables has, and with it. */
export interface JobContext {
  readonly task: Task
  readonly jobId: number
  readonly withoutId: TraceContext
  readonly withId: TraceContext
}

export interface TraceContext {
  readonly trace_id: string
  readonly pipeline_span_id: string
  readonly span_id: string
}

export interface EndToEnd {
  readonly attempts: readonly PlayedAttempt[]
  readonly contexts: readonly JobContext[]
  readonly hooks: readonly RelayedHook[]
  readonly kills: number
  /** Lines of the server's log about hooks that it could not deliver. */
  readonly undelivered: readonly string[]
  /** The exported spans and log records of each kind of webhooks. */
  readonly spans: Readonly<Record<HookKind, readonly Span[]>>
  readonly logs: Readonly<Record<HookKind, readonly LogRecord[]>>
}

/**
 * Pushes a repository to a real Gitea, runs its workflows, and sends its hooks to a running service, which is killed twice: before
 * the hook of a run that has ended, and before the hook after it, which is about a job. Returns what was exported, and what the server
 * and the runner say. A step takes `paceMs`.
 */
export async function playEndToEnd(paceMs: number): Promise<EndToEnd> {
  await using gitea = await GiteaServer.start()
  await using relay = await HookRelay.start()
  await using service = await KilledService.start(relay)
  using pottery = await Pottery.create(gitea)
  await pottery.addHooks(relay.url)
  const runner = await TestRunner.register(gitea, 'wheel-runner', ['ubuntu-latest'])
  const attempts: PlayedAttempt[] = []
  const contexts: JobContext[] = []
  const played: RanJob[] = []
  const play = async (jobs: number) => {
    const ran: RanJob[] = []
    while (ran.length < jobs) {
      ran.push(await runNextJob(runner, paceMs, async (task) => void contexts.push(await contextIn(task, pottery))))
    }
    played.push(...ran)
  }
  const ended = async (name: string, attempt: number) => {
    await Promise.all(hookKinds.map((kind) => relay.until((hooks) => endsOf(hooks, kind, name).size >= attempt)))
    const runId = [...endsOf(relay.hooks, 'repository', name).values()].at(-1)
    const jobs = played.splice(0).filter((job) => job.task.context.run_id === String(runId) || !played.push(job))
    attempts.push({ name, attempt, bundle: await pottery.bundle(runId ?? 0), jobs })
  }

  pottery.push('Spin slower')
  await play(6)
  await ended('Checks', 1)
  await ended('CI', 1)
  await pottery.rerunFailedJobs(attempts[0]?.bundle.run.id)
  await play(2)
  await ended('Checks', 2)
  pottery.pushTag('v0.1.0')
  await play(1)
  await ended('release.yml', 1)
  await pottery.openPullRequest('slower')
  await play(4)
  await ended('CI', 2)
  const isSkipped = ({ body }: RelayedHook) => JSON.parse(body).workflow_job?.conclusion === 'skipped'
  // The server skips the job `report` after it has ended the run.
  await relay.until((hooks) => hooks.filter(isSkipped).length >= SKIPPED_JOBS * hookKinds.length)
  const exported = await service.exported()
  const undelivered = gitea.log.split('\n').filter((line) => /deliver webhook/i.test(line))
  return { attempts, contexts, hooks: relay.hooks, kills: service.kills, undelivered, ...exported }
}

/** Returns the ids of the runs of a workflow that have ended, one for each attempt, by their start. */
function endsOf(hooks: readonly RelayedHook[], kind: HookKind, name: string): Map<string, number> {
  const runs = hooks.filter(({ source }) => source === kind).flatMap((hook) => endedRun(hook, name) ?? [])
  return new Map(runs.map(({ id, started_at }) => [`${id} ${started_at}`, id]))
}

function endedRun({ body }: ArrivingHook, name?: string): { id: number; started_at: string } | undefined {
  const { action, workflow, workflow_run } = JSON.parse(body)
  const isWanted = action === 'completed' && (name === undefined || workflow?.name === name)
  return isWanted ? workflow_run : undefined
}

/** Returns the ids that a command inside the job computes. */
async function contextIn(task: Task, pottery: Pottery): Promise<JobContext> {
  const jobId = await pottery.runningJobId(String(task.context.run_id))
  const env = { PATH: process.env.PATH, ...jobVariables(task, PUBLIC_URL) }
  const compute = (...flags: readonly string[]): TraceContext => {
    const args = [bin, 'trace-context', '--forge', 'gitea', '--format', 'json', ...flags]
    return JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' }))
  }
  return { task, jobId, withoutId: compute(), withId: compute('--job-id', String(jobId)) }
}

const logRecords = (request: Uint8Array): LogRecord[] =>
  decodeRequest('logs', request, 'json').resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))

/** A running service with a source for each kind of webhooks, and a receiver of its exports. */
class KilledService implements AsyncDisposable {
  kills = 0
  readonly #relay: HookRelay
  readonly #sink: ScriptedServer
  readonly #dataDir = mkdtempSync(join(tmpdir(), 'penstock-gitea-hooks-'))
  #core: CoreProcess | undefined

  static async start(relay: HookRelay): Promise<KilledService> {
    const sink = await ScriptedServer.start(() => ({ play: 'reply', status: 200, body: '{}' }))
    const service = new KilledService(relay, sink)
    await service.#start()
    let isAfterEnd = false
    relay.beforeHook = async (hook) => {
      const endsRun = endedRun(hook) !== undefined
      if (service.kills === 0 ? endsRun : service.kills === 1 && isAfterEnd && !endsRun) await service.#kill()
      isAfterEnd ||= endsRun
    }
    return service
  }

  private constructor(relay: HookRelay, sink: ScriptedServer) {
    this.#relay = relay
    this.#sink = sink
  }

  /** Resolves with all that was exported, as soon as nothing waits for its export. */
  async exported(): Promise<Pick<EndToEnd, 'spans' | 'logs'>> {
    const deadline = AbortSignal.timeout(EXPORT_DEADLINE_MS)
    while (this.#hasOpenExports()) await sleep(POLL_MS, undefined, { signal: deadline })
    const of = <Item>(read: (kind: HookKind) => readonly Item[]) =>
      Object.fromEntries(hookKinds.map((kind) => [kind, read(kind)])) as Record<HookKind, readonly Item[]>
    return {
      spans: of((kind) => this.#sent(kind, 'traces').flatMap(spansWithResource)),
      logs: of((kind) => this.#sent(kind, 'logs').flatMap(logRecords)),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#core?.[Symbol.asyncDispose]()
    await this.#sink.close()
    rmSync(this.#dataDir, { recursive: true, force: true })
  }

  #sent(kind: HookKind, signal: Signal): Uint8Array[] {
    return this.#sink.requests.filter(({ path }) => path === `/${kind}/v1/${signal}`).map(({ body }) => body)
  }

  async #kill(): Promise<void> {
    this.kills += 1
    this.#core?.kill()
    await this.#core?.[Symbol.asyncDispose]()
    await this.#start()
  }

  async #start(): Promise<void> {
    const source = (kind: HookKind) => ({
      forge: 'gitea',
      secretToken: SECRET,
      signals: ['traces', 'metrics', 'logs'],
      endpoint: `${this.#sink.url}/${kind}`,
      encoding: 'json',
      settleSeconds: SETTLE_SECONDS,
    })
    const sources = JSON.stringify(Object.fromEntries(hookKinds.map((kind) => [kind, source(kind)])))
    this.#core = await CoreProcess.start(this.#dataDir, {
      env: { PENSTOCK_EXTERNAL_URL: 'https://penstock.example.com', PENSTOCK_SOURCES: sources },
      startTimeoutMs: EXPORT_DEADLINE_MS,
    })
    this.#relay.target = new URL('/hooks/pipelines', this.#core.url).href
  }

  #hasOpenExports(): boolean {
    const args = [bin, 'export-queue', 'list', '--state', 'open']
    const env = { PATH: process.env.PATH, PENSTOCK_DATA_DIR: this.#dataDir }
    return / (traces|metrics|logs) +open /.test(execFileSync(process.execPath, args, { env, encoding: 'utf8' }))
  }
}
