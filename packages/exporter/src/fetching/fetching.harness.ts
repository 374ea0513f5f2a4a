import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { DeliveryStatus } from '@penstock/delivery'
import { decodeRequest } from '@penstock/otlp'
import { type ScriptedReply, ScriptedServer } from '@penstock/testkit'
import { HookReceiver } from '../hooks/hook-receiver.harness.ts'
import { FETCH_QUEUE } from '../store/fetch-store.ts'
import type { FetchLimits } from './fetch-limits.ts'

/** The key of signatures, in the form that forges with Basic authentication need. */
const KEY = 'user:key-of-the-signature'
export const API_TOKEN = 'canary-api-token-77'

/** Returns the bodies of a fixture. */
export const readFixture = (name: string): object[] =>
  JSON.parse(readFileSync(new URL(`../../../../fixtures/pipelines/${name}.json`, import.meta.url), 'utf8'))

/** How the scripted forge answers a request. */
type Script = (path: string, index: number) => ScriptedReply | undefined

export const json = (value: unknown, headers: Readonly<Record<string, string>> = {}): ScriptedReply => ({
  play: 'reply',
  status: 200,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(value),
})
export const status = (code: number, headers: Readonly<Record<string, string>> = {}): ScriptedReply => ({
  play: 'reply',
  status: code,
  headers,
  body: '{"message":"no"}',
})
export const gone = status(404)

interface World {
  readonly location?: string
  readonly forge?: string
  readonly limits?: Partial<FetchLimits>
  /** The paths of the APIs of further sources by name. */
  readonly more?: Readonly<Record<string, string>>
}

/** A hook receiver with a source `forge` that reads runs from a scripted forge. */
export class FetchingWorld {
  readonly receiver: HookReceiver
  /** The requests that the forge has got, by path. */
  readonly server: ScriptedServer
  script: Script

  static async open(script: Script, { location, forge = 'github', limits, more = {} }: World = {}) {
    let world: FetchingWorld | undefined
    const server = await ScriptedServer.start(({ path }, index) => world?.script(path, index) ?? gone)
    const source = (kind: string) => ({
      forge: kind,
      secretToken: KEY,
      signals: ['traces', 'metrics'],
      encoding: 'json',
      apiToken: API_TOKEN,
      apiUrl: server.url,
    })
    const others = Object.entries(more).map(([name, path]) => [name, { ...source(forge), apiUrl: server.url + path }])
    const receiver = await HookReceiver.start({
      sources: { forge: source(forge), ...Object.fromEntries(others) },
      ...(location !== undefined && { location }),
      ...(limits && { fetchLimits: limits }),
    })
    world = new FetchingWorld(receiver, server, script)
    return world
  }

  private constructor(receiver: HookReceiver, server: ScriptedServer, script: Script) {
    this.receiver = receiver
    this.server = server
    this.script = script
  }

  get clock() {
    return this.receiver.clock
  }

  get asked(): string[] {
    return this.server.requests.map(({ path }) => path)
  }

  hook(body: object | string, { event, source }: { readonly event?: string; readonly source?: string } = {}) {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const signature = `sha256=${createHmac('sha256', KEY).update(text).digest('hex')}`
    const name = event ?? (text.includes('"workflow_job"') ? 'workflow_job' : 'workflow_run')
    const headers = {
      'X-GitHub-Event': name,
      'X-Event-Key': name,
      'X-Hub-Signature-256': signature,
      'X-Hub-Signature': signature,
    }
    return this.receiver.post(text, headers, source)
  }

  /** Reads runs until the condition holds and the attempts in progress have ended. */
  async fetchUntil(holds: () => Promise<boolean> | boolean): Promise<void> {
    const stop = new AbortController()
    const running = this.receiver.fetcher.run(stop.signal)
    while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    await running
  }

  fetches(state: DeliveryStatus['state'] = 'open'): Promise<DeliveryStatus[]> {
    return this.receiver.fetcher.queue.list(state, { limit: 1_000 })
  }

  /** Makes one attempt with everything that is due. */
  async attempt(): Promise<void> {
    const before = await this.#open()
    const due = before.filter(({ due_at_ms }) => due_at_ms <= this.clock.nowMs())
    await this.fetchUntil(async () => {
      const open = await this.#open()
      const isDone = due.every(({ id, attempts }) => {
        const now = open.find((each) => each.id === id)
        return now === undefined || (now.claim === null && now.attempts > attempts)
      })
      // A source that fails again and again is paused.
      const isPaused = !isDone && open.every(({ claim }) => claim === null) && this.clock.wakeTimesMs.length > 1
      if (isPaused) await this.clock.advance(1_000)
      return isDone
    })
  }

  #open() {
    const { db } = this.receiver
    const all = db.read.selectFrom('deliveries').select(['id', 'due_at_ms', 'attempts', 'claim'])
    return all.where('queue', '=', FETCH_QUEUE).where('state', '=', 'open').execute()
  }

  /** Moves the time to when the next attempt is due, and makes it, until no run is left. Returns the number of attempts. */
  async fetchAll(maxAttempts = 50): Promise<number> {
    for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
      const open = await this.fetches()
      if (open.length === 0) return attempts
      const dueMs = Math.min(...open.map(({ dueAtMs }) => dueAtMs))
      await this.clock.advance(Math.max(0, dueMs - this.clock.nowMs()))
      await this.attempt()
    }
    throw new Error(`not read after ${maxAttempts} attempts`)
  }

  /** Exports everything, also runs that wait for job hooks, and returns the names of all spans that have been sent. */
  async exportAll(): Promise<string[]> {
    await this.clock.advance(700_000)
    const stop = new AbortController()
    const running = this.receiver.exporter.run(stop.signal)
    while ((await this.receiver.exporter.queue.counts()).open > 0) await new Promise((resolve) => setImmediate(resolve))
    stop.abort()
    await running
    return this.spans().map(({ name }) => name)
  }

  /** Returns the spans that have been sent, without those of steps. */
  spans() {
    return this.receiver.sink.requests
      .filter(({ path }) => path === '/v1/traces')
      .flatMap(({ body }) =>
        decodeRequest('traces', body, 'json').resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items)),
      )
      .filter(({ name }) => !name.startsWith('step: '))
  }

  metric(outcome: string): number | undefined {
    return this.receiver.exporter.metrics
      .snapshot()
      .find(({ name, labels }) => name === 'penstock_run_fetches' && labels.outcome === outcome)?.value
  }

  async close(): Promise<void> {
    await this.receiver.close()
    await this.server.close()
  }
}

/** A run of GitHub with two jobs: its hooks, and the answers of the REST API. */
export function githubRun(number = 0n) {
  const text = JSON.stringify(readFixture('github-run-hook-before-its-job-hooks')).replaceAll(
    '18400000103',
    String(18400000103n + number),
  )
  const [run, second, first] = JSON.parse(text) as [
    { workflow_run: { id: number } },
    { workflow_job: object },
    { workflow_job: object },
  ]
  const path = `/api/v3/repos/ferrous-labs/anvil/actions/runs/${run.workflow_run.id}/attempts/1`
  const jobs = [first.workflow_job, second.workflow_job]
  return {
    hook: run,
    jobHooks: [first, second] as const,
    path,
    run: json(run.workflow_run),
    jobs: json({ total_count: jobs.length, jobs }),
    listed: jobs,
  }
}

/** Answers about a run as GitHub does. */
export const answering =
  ({ path, run, jobs }: ReturnType<typeof githubRun>): Script =>
  (asked) => {
    if (asked === path) return run
    return asked.startsWith(`${path}/jobs`) ? jobs : undefined
  }
