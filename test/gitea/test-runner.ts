import { setTimeout as sleep } from 'node:timers/promises'
import type { GiteaServer } from './gitea-server.ts'

/** The results of steps and tasks in the protocol of runners. */
export type RunnerResult = 'SUCCESS' | 'FAILURE' | 'CANCELLED' | 'SKIPPED'

/** A job that the server has assigned to the runner. */
export interface Task {
  readonly id: string
  /** The workflow file with this job alone. */
  readonly workflow: string
  /** The `github` context of the job, as the server sends it. */
  readonly context: Readonly<Record<string, unknown>>
  readonly needs: Readonly<Record<string, { readonly result?: string }>>
}

/** The report of the runner about a step. Times are milliseconds since 1970; a skipped step has none. */
export interface StepReport {
  readonly result: RunnerResult
  readonly startedMs?: number
  readonly stoppedMs?: number
}

const TASK_DEADLINE_MS = 60_000
const POLL_MS = 50

/** A runner that speaks the protocol of Gitea's runners, with JSON as the encoding of connect-rpc. It runs no container. */
export class TestRunner {
  readonly #url: string
  readonly #identity: Readonly<Record<string, string>>
  readonly id: string
  readonly name: string

  /** Registers a runner for all repositories. */
  static async register(gitea: GiteaServer, name: string, labels: readonly string[]): Promise<TestRunner> {
    const { token } = await gitea.api('POST', '/admin/actions/runners/registration-token')
    const url = `${gitea.localUrl}/api/actions/runner.v1.RunnerService`
    const { runner } = await call(`${url}/Register`, {}, { name, token, version: 'v0.2.12', labels })
    const identity = { 'x-runner-uuid': runner.uuid, 'x-runner-token': runner.token }
    await call(`${url}/Declare`, identity, { version: 'v0.2.12', labels })
    return new TestRunner(url, identity, runner)
  }

  private constructor(url: string, identity: Readonly<Record<string, string>>, runner: { id: string; name: string }) {
    this.#url = url
    this.#identity = identity
    this.id = runner.id
    this.name = runner.name
  }

  /** Returns the next job for this runner. @throws if none becomes ready in time */
  async next(): Promise<Task> {
    const deadline = AbortSignal.timeout(TASK_DEADLINE_MS)
    for (;;) {
      const { task } = await this.#call('FetchTask', { tasksVersion: '0' })
      if (task !== undefined) {
        const workflow = Buffer.from(task.workflowPayload, 'base64').toString()
        return { id: task.id, workflow, context: task.context, needs: task.needs ?? {} }
      }
      await sleep(POLL_MS, undefined, { signal: deadline })
    }
  }

  /** Tells the server about the steps of a job that still runs. */
  async report(task: Task, steps: readonly StepReport[]): Promise<void> {
    await this.#call('UpdateTask', { state: { id: task.id, steps: steps.map(toStepState) } })
  }

  /** Ends a job after the last of its steps. */
  async finish(task: Task, result: RunnerResult, steps: readonly StepReport[]): Promise<void> {
    const rows = [{ time: isoTime(steps[0]?.startedMs), content: `job ${task.context.job}` }]
    await this.#call('UpdateLog', { taskId: task.id, index: '0', rows, noMore: true })
    const startedAt = isoTime(steps[0]?.startedMs)
    const stoppedAt = isoTime(steps.findLast(({ stoppedMs }) => stoppedMs !== undefined)?.stoppedMs ?? Date.now())
    const state = { id: task.id, result: `RESULT_${result}`, startedAt, stoppedAt, steps: steps.map(toStepState) }
    await this.#call('UpdateTask', { state })
  }

  #call(method: string, body: object) {
    return call(`${this.#url}/${method}`, this.#identity, body)
  }
}

const toStepState = ({ result, startedMs, stoppedMs }: StepReport, index: number) => ({
  id: String(index),
  result: `RESULT_${result}`,
  startedAt: isoTime(startedMs),
  stoppedAt: isoTime(stoppedMs),
  logIndex: '0',
  logLength: index === 0 ? '1' : '0',
})

const isoTime = (ms: number | undefined): string | undefined =>
  ms === undefined ? undefined : new Date(ms).toISOString()

// biome-ignore lint/suspicious/noExplicitAny: callers know the shape of the answer
async function call(url: string, headers: Readonly<Record<string, string>>, body: object): Promise<any> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(TASK_DEADLINE_MS),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`)
  return JSON.parse(text)
}
