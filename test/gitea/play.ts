import { setTimeout as sleep } from 'node:timers/promises'
import type { RunnerResult, StepReport, Task, TestRunner } from './test-runner.ts'

/** A job as the runner has run it. */
export interface RanJob {
  readonly task: Task
  readonly result: RunnerResult
  readonly steps: readonly StepReport[]
}

/** Called while a job runs, before its first step ends. */
export type DuringJob = (task: Task) => Promise<void>

/**
 * Runs the next job. Steps take `paceMs`. The second step of the job `unit` fails in its first attempt. The condition of the job
 * `publish` is not met, which is for the runner to find out.
 */
export async function runNextJob(runner: TestRunner, paceMs: number, during?: DuringJob): Promise<RanJob> {
  const task = await runner.next()
  const { job, run_attempt } = task.context
  const fails = job === 'unit' && run_attempt === '1'
  const skips = job === 'publish'
  const steps: StepReport[] = []
  for (let index = 0; index < countSteps(task.workflow); index += 1) {
    if (skips || (fails && index > FAILING_STEP)) {
      steps.push({ result: 'SKIPPED' })
      continue
    }
    const startedMs = Date.now()
    await sleep(paceMs)
    if (index === 0) await during?.(task)
    steps.push({ result: fails && index === FAILING_STEP ? 'FAILURE' : 'SUCCESS', startedMs, stoppedMs: Date.now() })
    await runner.report(task, steps)
  }
  const result = skips ? 'SKIPPED' : fails ? 'FAILURE' : 'SUCCESS'
  await runner.finish(task, result, steps)
  return { task, result, steps }
}

const FAILING_STEP = 1

/** Returns the number of steps of the only job of a workflow. */
const countSteps = (workflow: string): number => workflow.match(/^\s*- (name|run):/gm)?.length ?? 0

/**
 * Returns the variables that Gitea's own runner sets for a job, from the context that the server sends.
 * @param serverUrl the address of the server as the runner was registered with it
 */
export const jobVariables = ({ context }: Task, serverUrl: string): Record<string, string> => ({
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_ACTOR: String(context.actor),
  GITHUB_BASE_REF: String(context.base_ref),
  GITHUB_EVENT_NAME: String(context.event_name),
  GITHUB_HEAD_REF: String(context.head_ref),
  GITHUB_JOB: String(context.job),
  GITHUB_REF: String(context.ref),
  GITHUB_REF_NAME: String(context.ref_name),
  GITHUB_REF_TYPE: String(context.ref_type),
  GITHUB_REPOSITORY: String(context.repository),
  GITHUB_REPOSITORY_OWNER: String(context.repository_owner),
  GITHUB_RUN_ATTEMPT: String(context.run_attempt),
  GITHUB_RUN_ID: String(context.run_id),
  GITHUB_RUN_NUMBER: String(context.run_number),
  GITHUB_SERVER_URL: serverUrl,
  GITHUB_SHA: String(context.sha),
  GITHUB_WORKFLOW: String(context.workflow),
})
