import type { Span } from '@penstock/otlp'
import type { SpanView } from '../attribute-uses.harness.ts'
import { code, sum } from '../markdown.ts'
import { type ComparedRun, type Comparison, type JobView, jobPairs, type Pair, runPairs } from './comparison.harness.ts'
import { hookSubject } from './run-hooks.harness.ts'

/** A difference, and how often each side has it. The figures are texts such as `3 of 5`. */
export interface Fault {
  readonly what: string
  readonly theirs: string
  readonly ours: string
}

type Side = 'theirs' | 'ours'
type Pairs = { readonly runs: readonly Pair<SpanView>[]; readonly jobs: readonly Pair<JobView>[] }

/** A count on each side, of the things that could have the fault. */
interface CountedFault {
  readonly what: string
  /** Returns whether each thing that could have the fault has it. */
  readonly found: (side: Side, pairs: Pairs) => readonly boolean[]
}

const SKIPPED = 'skipped'
const valueAt = ({ attributes }: SpanView, key: string) => attributes.get(key)?.value
const firstAt = (view: SpanView, keys: readonly string[]) => keys.map((key) => view.attributes.get(key)).find(Boolean)
const hours = ({ startTimeUnixNano, endTimeUnixNano }: Span): number =>
  Number(endTimeUnixNano - startTimeUnixNano) / 3.6e12

const stepNames = ['svc.cicd.pipeline.step.name', 'cicd.pipeline.task.name']
const stepResults = ['svc.cicd.pipeline.step.result', 'cicd.pipeline.run.task.status']
const runResults = ['cicd.pipeline.result', 'cicd.pipeline.run.status']
const definedResults = ['success', 'failure', 'error', 'timeout', 'cancellation', 'skip']

/** The names of the steps that the forge skipped: their names are unique among the fixtures' steps of one job. */
const skippedSteps = (side: Side, { jobs }: Pairs): SpanView[] =>
  jobs.flatMap((pair) => {
    const skipped = new Set(
      pair.ours.steps
        .filter((step) => valueAt(step, 'svc.cicd.pipeline.step.status') === SKIPPED)
        .map((step) => valueAt(step, 'svc.cicd.pipeline.step.name')),
    )
    return pair[side].steps.filter((step) => skipped.has(firstAt(step, stepNames)?.value))
  })

const faults: readonly CountedFault[] = [
  {
    what: 'a skipped step has the result `failure`',
    found: (side, pairs) => skippedSteps(side, pairs).map((step) => firstAt(step, stepResults)?.value === 'failure'),
  },
  {
    what: 'a step is longer than its job',
    found: (side, { jobs }) =>
      jobs.flatMap(({ [side]: job }) => job.steps.map(({ span }) => hours(span) > hours(job.span))),
  },
  {
    what: 'a step shares its span id with another step of its job',
    found: (side, { jobs }) =>
      jobs.flatMap(({ [side]: job }) => {
        const ids = job.steps.map(({ span }) => span.spanId)
        return ids.map((id) => ids.indexOf(id) !== ids.lastIndexOf(id))
      }),
  },
  {
    what: '`cicd.pipeline.name` of a job is the name of the job',
    found: (side, { jobs }) =>
      jobs.map(({ [side]: job, ours }) => valueAt(job, 'cicd.pipeline.name') === valueAt(ours, 'job.name')),
  },
  {
    what: 'the span of a job begins before the job is started',
    found: (side, { jobs }) =>
      jobs.map(({ [side]: job, ours }) => job.span.startTimeUnixNano < ours.span.startTimeUnixNano),
  },
  {
    what: 'a run of a tag has the type `branch` for its ref',
    found: (side, { runs }) =>
      runs
        .filter(({ ours }) => valueAt(ours, 'vcs.ref.head.type') === 'tag')
        .map((pair) => firstAt(pair[side], ['vcs.ref.head.type', 'vcs.ref.type'])?.value === 'branch'),
  },
  {
    what: 'the id of a run or job is an integer; the conventions define a string',
    found: (side, { runs, jobs }) =>
      [...runs, ...jobs].map(
        (pair) => firstAt(pair[side], ['cicd.pipeline.task.run.id', 'cicd.pipeline.run.id'])?.type !== 'string',
      ),
  },
  {
    what: 'the result of a run is no value of the conventions',
    found: (side, { runs }) =>
      runs.map((pair) => !definedResults.includes(String(firstAt(pair[side], runResults)?.value))),
  },
  {
    what: 'a link to the attempt before has no span id',
    found: (side, { runs }) => runs.flatMap(({ [side]: { span } }) => span.links.map(({ spanId }) => spanId === '')),
  },
  {
    what: 'the e-mail address of a committer is exported',
    found: (side, { runs, jobs }) =>
      [...runs, ...jobs].map(({ [side]: { attributes } }) =>
        [...attributes.values()].some(({ value }) => typeof value === 'string' && value.includes('@example.com')),
      ),
  },
  {
    what: 'a job without a runner has the worker 0',
    found: (side, { jobs }) =>
      jobs
        .filter(({ ours }) => !ours.attributes.has('cicd.worker.id'))
        .map(({ [side]: job }) => valueAt(job, 'cicd.pipeline.worker.id') === 0n),
  },
]

/** Returns the differences that matter, with figures of both sides. */
export function measuredFaults({ runs, sameDigits }: Comparison): Fault[] {
  const pairs = { runs: runPairs(runs), jobs: jobPairs(runs) }
  const counted = faults.map(({ what, found }) => ({
    what,
    theirs: share(found('theirs', pairs)),
    ours: share(found('ours', pairs)),
  }))
  return [
    ...counted,
    {
      what: 'hours of the longest step',
      theirs: longestStep(pairs.jobs, 'theirs'),
      ours: longestStep(pairs.jobs, 'ours'),
    },
    {
      what: 'the time in the queue of all jobs',
      theirs: queueTimes(pairs.jobs, 'theirs'),
      ours: queueTimes(pairs.jobs, 'ours'),
    },
    {
      what: `traces of the ${sameDigits.length} runs with the same digits in number and attempt`,
      theirs: String(traceIds(sameDigits, 'theirs')),
      ours: String(traceIds(sameDigits, 'ours')),
    },
    {
      what: 'runs that wait for approval, which are exported as if they had finished',
      theirs: String(runs.filter(({ theirs, answers }) => theirs.run && waits(answers)).length),
      ours: String(runs.filter(({ ours, answers }) => ours.run && waits(answers)).length),
    },
  ]
}

const share = (found: readonly boolean[]): string => `${found.filter(Boolean).length} of ${found.length}`

const longestStep = (jobs: readonly Pair<JobView>[], side: Side): string =>
  Math.max(...jobs.flatMap(({ [side]: { steps } }) => steps.map(({ span }) => hours(span)))).toFixed(2)

const waits = (answers: ComparedRun['answers']): boolean =>
  answers.some((hook) => hookSubject(hook).conclusion === 'action_required')

/** Returns the sum of all times in the queue with their type and unit. */
function queueTimes(jobs: readonly Pair<JobView>[], side: Side): string {
  const key = side === 'theirs' ? 'cicd.pipeline.run.queue.duration' : 'svc.cicd.pipeline.task.run.queued_duration'
  const values = jobs.flatMap(({ [side]: job }) => (job.queue ?? job).attributes.get(key) ?? [])
  const type = [...new Set(values.map((value) => value.type))].join(', ')
  const unit = side === 'theirs' ? 'nanoseconds' : 'seconds'
  return `${sum(values.map(({ value }) => Number(value)))} ${unit}, ${type}, ${code(key)}`
}

const traceIds = (runs: readonly ComparedRun[], side: Side): number =>
  new Set(runs.map(({ [side]: { run } }) => run?.span.traceId)).size
