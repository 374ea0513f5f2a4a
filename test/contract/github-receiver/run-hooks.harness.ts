import { isObject, type JsonObject, parseLossless } from '@penstock/forges'
import { bodiesOf, caseNames } from '../../fixtures.ts'

export type HookEvent = 'workflow_run' | 'workflow_job'

export interface RunHook {
  /** The case, and the position of the hook within it. */
  readonly name: string
  readonly event: HookEvent
  readonly text: string
}

/** The hooks of one attempt of a run. */
export interface HookedRun {
  readonly name: string
  readonly hooks: readonly RunHook[]
}

/**
 * Returns the runs of the fixtures of GitHub as hooks. A bundle of REST answers becomes the hooks that GitHub sends for the same run: one
 * for the run, and one for each job.
 */
export function hookedRuns(): HookedRun[] {
  const cases = caseNames.filter((name) => name.startsWith('github-'))
  return cases.flatMap((name) => {
    const bodies = bodiesOf(name).filter(isObject)
    const bundles = bodies.filter(({ run }) => isObject(run))
    if (bundles.length === 0) return [hooked(name, bodies)]
    return bundles.map((bundle, i) => hooked(bundles.length === 1 ? name : `${name}[${i}]`, hooksOfBundle(bundle)))
  })
}

/** Returns two runs with the same digits in number and attempt: 184000 and 11, 1840001 and 1. */
export function runsWithTheSameDigits(): HookedRun[] {
  const [body] = bodiesOf('github-run-hook-alone').filter(isObject)
  const run = body?.workflow_run
  if (!isObject(run)) throw new Error('the case is no hook of a run')
  return [
    { id: 184_000, run_attempt: 11 },
    { id: 1_840_001, run_attempt: 1 },
  ].map((ids) => hooked(`attempt ${ids.run_attempt} of run ${ids.id}`, [{ ...body, workflow_run: { ...run, ...ids } }]))
}

function hooked(name: string, bodies: readonly JsonObject[]): HookedRun {
  const hooks = bodies.map((body, i): RunHook => {
    const event = isObject(body.workflow_run) ? 'workflow_run' : 'workflow_job'
    return { name: `${name}[${i}]`, event, text: JSON.stringify(body) }
  })
  return { name, hooks }
}

function hooksOfBundle({ run, jobs }: JsonObject): JsonObject[] {
  if (!isObject(run)) throw new Error('no run')
  const about = { action: 'completed', repository: run.repository, sender: run.actor }
  return [
    { ...about, workflow_run: run, workflow: { id: run.workflow_id, name: run.name, path: run.path } },
    ...listedJobs(jobs)
      .filter((job) => isOfAttempt(job, run))
      .map((job) => ({ ...about, workflow_job: job })),
  ]
}

/** Returns whether a job ran in an attempt. There are no hooks about jobs that an attempt lists but did not run again. */
const isOfAttempt = (job: JsonObject, run: JsonObject): boolean =>
  run.run_attempt === 1 || Date.parse(String(job.completed_at)) >= Date.parse(String(run.run_started_at))

function listedJobs(jobs: unknown): JsonObject[] {
  const pages = Array.isArray(jobs) ? jobs : [jobs]
  return pages.flatMap((page) => (isObject(page) && Array.isArray(page.jobs) ? page.jobs : page)).filter(isObject)
}

/** Returns the object that a hook is about. */
export function hookSubject({ event, text }: RunHook): JsonObject {
  const body = parseLossless(text)
  const subject = isObject(body) ? body[event] : undefined
  if (!isObject(subject)) throw new Error(`no ${event}`)
  return subject
}
