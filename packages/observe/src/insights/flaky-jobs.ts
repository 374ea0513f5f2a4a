import { entryOf, failureRate, hasResult, type JobFacts, type RunFacts } from './run-facts.ts'

export interface FlakyJob {
  readonly name: string
  readonly project: string | null
  /** The number of commits on which it both passed and failed. */
  readonly shas: number
  /** The number of commits on which it passed or failed. */
  readonly shas_total: number
  /** `shas` ÷ `shas_total`. */
  readonly rate: number
  /** The attempts that passed, and those that failed, on all commits. */
  readonly success: number
  readonly failed: number
  /** Failed attempts ÷ all of them. */
  readonly failure_rate: number | null
  /** The latest run with a failure on a commit on which it also passed. */
  readonly last_trace_id: string
  /** The latest results, the oldest first. */
  readonly last_results: readonly string[]
}

const MAX_ENTRIES = 50
const LAST_RESULTS = 24

interface Attempt {
  readonly run: RunFacts
  readonly job: JobFacts
}

/**
 * Returns the flaky jobs: those of a project that both passed and failed on one commit, in any runs and attempts. The job with the
 * most such commits comes first. Jobs with the same name are one job, whatever their stage.
 */
export function flakyJobs(runs: readonly RunFacts[]): FlakyJob[] {
  const byProject = new Map<string | null, Map<string, Attempt[]>>()
  for (const run of runs) {
    const byName = entryOf(byProject, run.project, () => new Map())
    for (const job of run.jobs) if (hasResult(job)) entryOf(byName, job.name, () => []).push({ run, job })
  }
  const found: FlakyJob[] = []
  for (const [project, byName] of byProject) {
    for (const [name, attempts] of byName) {
      const flaky = flakinessOf(attempts)
      if (flaky !== undefined) found.push({ name, project, ...flaky })
    }
  }
  return found.sort((a, b) => b.shas - a.shas || b.rate - a.rate || (a.name < b.name ? -1 : 1)).slice(0, MAX_ENTRIES)
}

const PASSED = 1
const FAILED = 2

function flakinessOf(attempts: readonly Attempt[]): Omit<FlakyJob, 'name' | 'project'> | undefined {
  const failed = attempts.reduce((sum, { job }) => sum + Number(job.status === 'failed'), 0)
  if (failed === 0 || failed === attempts.length) return undefined
  const bySha = new Map<string, number>()
  for (const { run, job } of attempts) {
    if (run.sha === null) continue
    bySha.set(run.sha, (bySha.get(run.sha) ?? 0) | (job.status === 'failed' ? FAILED : PASSED))
  }
  const isFlaky = (sha: string | null) => sha !== null && bySha.get(sha) === (PASSED | FAILED)
  const shas = [...bySha.keys()].filter(isFlaky).length
  if (shas === 0) return undefined
  const inOrder = [...attempts].sort((a, b) => a.job.start - b.job.start)
  const last = inOrder.findLast(({ run, job }) => job.status === 'failed' && isFlaky(run.sha))!
  return {
    shas,
    shas_total: bySha.size,
    rate: shas / bySha.size,
    success: attempts.length - failed,
    failed,
    failure_rate: failureRate(attempts.length - failed, failed),
    last_trace_id: last.run.traceId,
    last_results: inOrder.slice(-LAST_RESULTS).map(({ job }) => job.status!),
  }
}
