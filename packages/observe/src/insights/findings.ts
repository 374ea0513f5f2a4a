import { failureRate, hasFinished } from '../runs/run-facts.ts'
import type { FlakyJob } from './flaky-jobs.ts'
import { percentileIn } from './history/percentile.ts'
import { FAILED, NONE, type RunEntry, type RunTable } from './history/run-table.ts'
import { DAY, dayStart, startedIn, type TimeSpan } from './history/time-buckets.ts'
import { usualRunsBefore } from './history/usual-runs.ts'
import { largestChange } from './run-changes.ts'

/** A piece of a finding's sentence. Numbers are not formatted, so that a page can write them with its units and zone. */
export type FindingPart =
  | { readonly text: string }
  /** A name, with a path of the console if something other than the finding's `link` shows it. */
  | { readonly name: string; readonly link?: string }
  | { readonly seconds: number }
  | { readonly ratio: number }
  | { readonly count: number }
  /** The beginning of a day. */
  | { readonly day_ns: string }

export interface Finding {
  readonly rule: 'slower_yesterday' | 'bad_day' | 'slow_drift' | 'longer_queue' | 'flaky_job'
  readonly parts: readonly FindingPart[]
  /** A path of the console with the runs behind the finding. */
  readonly link: string
}

export type FlakySubject = Pick<FlakyJob, 'name' | 'project' | 'shas' | 'shas_total' | 'rate'>

export interface FindingRange extends TimeSpan {
  readonly offsetMinutes: number
}

export interface FindingSubjects {
  readonly table: RunTable
  /** Without child pipelines, of the range and from before it, in the order of their start. */
  readonly runs: readonly RunEntry[]
  /** All runs of the range, with child pipelines, in the order of their start. */
  readonly inRange: readonly RunEntry[]
  /** The flaky jobs of the range. */
  readonly flaky: readonly FlakySubject[]
}

/** Returns the statements about a range that their rules find true, the most important first. docs/guides/observe.md lists the rules. */
export function toFindings({ table, runs, inRange, flaky }: FindingSubjects, range: FindingRange): Finding[] {
  const passedRuns = passed(runs)
  return [
    slowerYesterday(table, passedRuns, range),
    badDay(table, startedIn(runs, range), inRange, range),
    slowDrift(table, passedRuns, range),
    longerQueue(runs, range),
    flakyJob(flaky, range),
  ].flatMap((finding) => finding ?? [])
}

const MIN_RUNS_YESTERDAY = 3
const MIN_USUAL_RUNS = 5

/**
 * The day before the day of the range's end against what was usual before it: the project with the largest rise of the median duration of
 * passed runs of one kind, as a share, and the job with the largest rise of its mean time on the critical path.
 */
function slowerYesterday(
  table: RunTable,
  passedRuns: readonly RunEntry[],
  { until, offsetMinutes }: FindingRange,
): Finding | undefined {
  const today = dayStart(until, offsetMinutes)
  const yesterday = { since: today - DAY, until: today }
  const change = largestChange(table, passedRuns, {
    after: yesterday,
    minAfter: MIN_RUNS_YESTERDAY,
    before: (runs) => usualRunsBefore(runs, yesterday.since),
    minBefore: MIN_USUAL_RUNS,
  })
  if (change === undefined) return undefined
  const { project, median, usual, job } = change
  return {
    rule: 'slower_yesterday',
    parts: [
      ...(job === undefined
        ? [...inProject({ name: 'Pipelines' }, project), { text: ' took longer: ' }]
        : [
            { text: 'Job ' },
            ...inProject({ name: job.name, link: jobLink(job.name, yesterday, project, 'slowest-jobs') }, project),
            { text: ': ' },
            { seconds: job.rise },
            { text: ' more on the critical path, ' },
          ]),
      { text: 'median pipeline ' },
      { seconds: median },
      { text: ', usually ' },
      { seconds: usual },
    ],
    link: pipelinesLink(yesterday, project),
  }
}

const MIN_DRIFT_DAYS = 6
const MIN_RUNS_PER_THIRD = 10

/** The last third of the range against its first third, for ranges of at least six days. */
function slowDrift(table: RunTable, passedRuns: readonly RunEntry[], range: FindingRange): Finding | undefined {
  const { since, until } = range
  if (until - since < MIN_DRIFT_DAYS * DAY) return undefined
  const third = (until - since) / 3
  const first = { since, until: since + third }
  const last = { since: until - third, until }
  const change = largestChange(table, passedRuns, {
    after: last,
    minAfter: MIN_RUNS_PER_THIRD,
    before: (runs) => startedIn(runs, first),
    minBefore: MIN_RUNS_PER_THIRD,
  })
  if (change === undefined) return undefined
  const { project, median, usual, job } = change
  return {
    rule: 'slow_drift',
    parts: [
      ...inProject({ name: 'The median pipeline' }, project),
      { text: ' rose from ' },
      { seconds: usual },
      { text: ' to ' },
      { seconds: median },
      ...(job === undefined
        ? []
        : [
            { text: '. Job ' },
            { name: job.name, link: jobLink(job.name, range, project, 'slowest-jobs') },
            { text: ' accounts for ' },
            { seconds: job.rise },
          ]),
    ],
    link: insightsLink(range, project),
  }
}

const BAD_DAY_RATE = 0.2
const BAD_DAY_FACTOR = 2
const MIN_FAILED_RUNS = 3
const RUNNER_SHARE = 0.6

/**
 * The day with the highest failure rate, if that is at least 20 % and twice the rate of the other days, with at least three failed
 * runs; and the runner of at least 60 % of that day's failed jobs.
 */
function badDay(
  table: RunTable,
  roots: readonly RunEntry[],
  inRange: readonly RunEntry[],
  range: FindingRange,
): Finding | undefined {
  const days = new Map<number, { success: number; failed: number }>()
  const all = { success: 0, failed: 0 }
  for (let day = dayStart(range.since, range.offsetMinutes); day < range.until; day += DAY) {
    const counts = { success: 0, failed: 0 }
    for (const { status } of startedIn(roots, { since: day, until: day + DAY })) {
      if (status === 'success' || status === 'failed') counts[status] += 1
    }
    all.success += counts.success
    all.failed += counts.failed
    if (counts.success + counts.failed > 0) days.set(day, counts)
  }
  const candidates = [...days].flatMap(([day, { success, failed }]) => {
    const rate = failureRate(success, failed)!
    const otherRate = failureRate(all.success - success, all.failed - failed)
    const stands = failed >= MIN_FAILED_RUNS && rate >= BAD_DAY_RATE && otherRate !== null
    return stands && rate >= BAD_DAY_FACTOR * otherRate ? [{ day, failed, rate, otherRate }] : []
  })
  const worst = candidates.sort((a, b) => b.rate - a.rate || b.failed - a.failed)[0]
  if (worst === undefined) return undefined
  const span = { since: worst.day, until: worst.day + DAY }
  const runner = mainRunnerOfFailures(table, startedIn(inRange, span))
  return {
    rule: 'bad_day',
    parts: [
      { day_ns: nanosecondsOf(worst.day) },
      { text: ': ' },
      { ratio: worst.rate },
      { text: ' of pipelines failed, otherwise ' },
      { ratio: worst.otherRate },
      ...(runner === undefined
        ? []
        : [
            { text: '. ' },
            { count: runner.failed },
            { text: ` of ${runner.all} failed jobs ran on ` },
            { name: runner.name },
          ]),
    ],
    link: `${pipelinesLink(span)}&status=failed`,
  }
}

function mainRunnerOfFailures(
  table: RunTable,
  runs: readonly RunEntry[],
): { name: string; failed: number; all: number } | undefined {
  const { outcome, runner } = table.columns
  const byRunner = new Map<string, number>()
  let all = 0
  for (const { from, to } of runs) {
    for (let at = from; at < to; at += 1) {
      if (outcome[at] !== FAILED || runner[at] === NONE) continue
      const name = table.runners[runner[at]!]!
      byRunner.set(name, (byRunner.get(name) ?? 0) + 1)
      all += 1
    }
  }
  const main = [...byRunner].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]
  if (main === undefined || main[1] < MIN_FAILED_RUNS || main[1] < RUNNER_SHARE * all) return undefined
  return { name: main[0], failed: main[1], all }
}

const MIN_QUEUE_SECONDS = 30
const QUEUE_FACTOR = 2
const MIN_QUEUES = 5

/** The 95th percentile of the queue time, if it is at least 30 s and twice that of the range before. */
function longerQueue(runs: readonly RunEntry[], range: FindingRange): Finding | undefined {
  const { since, until } = range
  const queueP95 = (span: TimeSpan) => {
    const queues: number[] = []
    for (const { queue } of startedIn(runs, span)) if (queue !== null) queues.push(queue)
    return queues.length < MIN_QUEUES ? null : percentileIn(new Float64Array(queues), 0.95)
  }
  const now = queueP95(range)
  const before = queueP95({ since: since - (until - since), until: since })
  if (now === null || before === null || now < MIN_QUEUE_SECONDS || now < QUEUE_FACTOR * before) return undefined
  return {
    rule: 'longer_queue',
    parts: [
      { text: 'One run in twenty waited ' },
      { seconds: now },
      { text: ' or longer, before ' },
      { seconds: before },
    ],
    link: insightsLink(range),
  }
}

const MIN_FLAKY_SHAS = 2

/** The job with the highest share of commits on which it passed and failed, if there are at least two such commits. */
function flakyJob(jobs: readonly FlakySubject[], range: FindingRange): Finding | undefined {
  const job = jobs
    .filter(({ shas }) => shas >= MIN_FLAKY_SHAS)
    .reduce<FlakySubject | undefined>(
      (most, each) => (most === undefined || each.rate > most.rate ? each : most),
      undefined,
    )
  if (job === undefined) return undefined
  return {
    rule: 'flaky_job',
    parts: [
      { text: 'Job ' },
      ...inProject({ name: job.name }, job.project),
      { text: ': passed and failed on the same commit ' },
      { count: job.shas },
      { text: ` times in ${job.shas_total} commits` },
    ],
    link: jobLink(job.name, range, job.project, 'flaky-jobs'),
  }
}

const passed = (runs: readonly RunEntry[]): RunEntry[] =>
  runs.filter((run) => hasFinished(run) && run.status === 'success')

const inProject = (subject: FindingPart, project: string | null): FindingPart[] =>
  project === null ? [subject] : [subject, { text: ' in ' }, { name: project }]

const nanosecondsOf = (seconds: number): string => String(BigInt(Math.round(seconds)) * 1_000_000_000n)

const linkTo = (page: string, { since, until }: TimeSpan, project?: string | null): string =>
  `${page}?${new URLSearchParams({
    ...(project != null && { project }),
    since: nanosecondsOf(since),
    until: nanosecondsOf(until),
  })}`
const pipelinesLink = (span: TimeSpan, project?: string | null): string => linkTo('/pipelines', span, project)

/** Returns the path of a table of Insights, far below the charts, in which the row of a job is marked. */
const jobLink = (job: string, span: TimeSpan, project: string | null, table: 'slowest-jobs' | 'flaky-jobs'): string =>
  `${insightsLink(span, project)}&${new URLSearchParams({ job })}#${table}`

const insightsLink = (span: TimeSpan, project?: string | null): string => linkTo('/insights', span, project)
