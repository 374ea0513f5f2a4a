import {
  byKey,
  countKeys,
  type KeyUse,
  kindOf,
  type SpanView,
  typeRemark,
  valueText,
} from '../attribute-uses.harness.ts'
import { code, table } from '../markdown.ts'
import {
  type AnsweredHook,
  type ComparedRun,
  type Comparison,
  type JobView,
  jobPairs,
  type Pair,
  type RunView,
  runPairs,
} from './comparison.harness.ts'
import { equivalents, remarkByPrefix, remarks } from './equivalents.ts'
import { measuredFaults } from './faults.harness.ts'
import { hookSubject } from './run-hooks.harness.ts'

type Side = 'theirs' | 'ours'

/** Returns the text of `docs/evidence/compared-with-githubreceiver.md`. Every figure in it is measured. */
export function comparisonPage(comparison: Comparison): string {
  const { runs } = comparison
  const hooks = runs.flatMap(({ answers }) => answers)
  return `<!-- Generated from a run of the real receiver by npm run docs; test/contract checks it. Do not edit. -->

# Compared with the Collector's githubreceiver

The OpenTelemetry Collector can turn hooks of GitHub Actions into traces with its \`githubreceiver\` (alpha). This page compares its output
with Penstock's: both received the ${hooks.length} hooks of ${runs.length} attempts of runs, made from the payloads of GitHub in
\`fixtures/pipelines\`. A payload of the REST API was sent as the hooks of the same run. The receiver is that of contrib 0.158 in a running
collector, with a secret and its defaults; Penstock ran with its defaults. Each fixture is unusual in one way, on purpose: the counts show
which differences matter, not how often a real repository would meet them.

${table(
  ['Hooks', 'githubreceiver', 'Penstock'],
  [
    ['exported', count(hooks, 'exported'), 'as one trace for each run, once its jobs are known'],
    ['skipped as not finished (204)', count(hooks, 'skipped'), 'kept until the job has finished'],
    ['accepted with 200, but nothing exported', count(hooks, 'lost'), 0],
    ['refused', count(hooks, 'refused'), 0],
    ['runs', runs.filter(({ theirs }) => theirs.run).length, runs.filter(({ ours }) => ours.run).length],
    ['jobs', jobCount(runs, 'theirs'), jobCount(runs, 'ours')],
  ],
)}

## Differences that matter

${table(
  ['What', 'githubreceiver', 'Penstock'],
  measuredFaults(comparison).map(({ what, theirs, ours }) => [what, theirs, ours]),
)}

The receiver exports each hook by itself, as soon as it arrives. Without the hook of its run, a job has a parent that does not exist, and a
second delivery of a hook is exported again. Penstock sends a run with its jobs once, and again only jobs that arrive later.

The receiver has no metrics and no logs of runs. Penstock has no span for the time in the queue, which is an attribute of the job.

## Attributes of the receiver

The receiver puts the attributes of a run or a job on a resource. Here they are those of the run or job. *Same* compares, for each run, job
and step, the receiver's value with Penstock's value of the key in the same row, as text. Blank values of the receiver are not counted.

${theirAttributes(runs)}

## Attributes that only Penstock sends

Many of these are older keys with the same value as another key; \`docs/reference/telemetry.md\` lists the pairs.

${ourAttributes(runs)}

## Case by case

${table(
  ['Attempt of a run', 'Result', 'Hooks', 'Spans of githubreceiver', 'Spans of Penstock'],
  runs.map(({ name, answers, theirs, ours }) => [
    code(name),
    conclusion(answers),
    answers.map(({ answer }) => answer).join(', '),
    spanCount(theirs),
    spanCount(ours),
  ]),
)}
`
}

const count = (hooks: readonly AnsweredHook[], answer: string): number =>
  hooks.filter((hook) => hook.answer === answer).length

const jobCount = (runs: readonly ComparedRun[], side: Side): number =>
  runs.reduce((all, { [side]: { jobs } }) => all + jobs.size, 0)

/** Returns the conclusion of the run in GitHub's word. */
function conclusion(hooks: readonly AnsweredHook[]): string {
  const run = hooks.find(({ event }) => event === 'workflow_run')
  return run === undefined ? '' : String(hookSubject(run).conclusion)
}

const spanCount = ({ run, jobs }: RunView): number =>
  (run ? 1 : 0) + [...jobs.values()].reduce((all, { steps, queue }) => all + 1 + steps.length + (queue ? 1 : 0), 0)

/** Returns the uses of each key among the runs, jobs and steps that both export. */
function keyUses(runs: readonly ComparedRun[], side: Side): Map<string, KeyUse> {
  return countKeys([
    ...runPairs(runs).map((pair) => ['run', pair[side].attributes] as const),
    ...jobPairs(runs).flatMap(({ [side]: job }) => [
      ['job', job.attributes] as const,
      ...(job.queue === undefined ? [] : [['queue', job.queue.attributes] as const]),
      ...job.steps.map(({ attributes }) => ['step', attributes] as const),
    ]),
  ])
}

function theirAttributes(runs: readonly ComparedRun[]): string {
  const ours = keyUses(runs, 'ours')
  const rows = [...keyUses(runs, 'theirs')].toSorted(byKey).map(([key, use]) => {
    const ourKey = equivalents[key] ?? key
    const ourUse = ours.get(ourKey)
    const { compared, same } = agreement(key, runs)
    return [
      code(key),
      kindOf(use),
      use.blank === 0 ? '' : `${use.blank} of ${use.values}`,
      ourUse === undefined ? '–' : ourKey === key ? 'same key' : code(ourKey),
      ourUse === undefined ? '' : typeRemark(use, ourUse),
      ourUse === undefined ? '' : `${same} of ${compared}`,
      remarkOn(key),
    ]
  })
  return table(['Key', 'On, type', 'Blank', 'Ours', 'On, type', 'Same', 'Why'], rows)
}

const remarkOn = (key: string): string =>
  remarks[key] ?? remarkByPrefix.find(([prefix]) => key.startsWith(prefix))?.[1] ?? ''

/** Returns how many values of a key Penstock sends as the same text. */
function agreement(key: string, runs: readonly ComparedRun[]): { compared: number; same: number } {
  const ourKey = equivalents[key] ?? key
  const pairs: Pair<SpanView>[] = [...runPairs(runs), ...jobPairs(runs).flatMap(jobParts)]
  const values = pairs.flatMap(({ theirs, ours }) => {
    const value = theirs.attributes.get(key)
    return value === undefined || value.value === '' ? [] : [{ theirs: value, ours: ours.attributes.get(ourKey) }]
  })
  const same = values.filter(({ theirs, ours }) => ours !== undefined && valueText(theirs) === valueText(ours))
  return { compared: values.length, same: same.length }
}

/** Returns a job and its parts. A step of the receiver has the position of a step of ours among those that have a time. */
function jobParts({ theirs, ours }: Pair<JobView>): Pair<SpanView>[] {
  const steps = theirs.steps.length === ours.steps.length ? theirs.steps : []
  return [
    { theirs, ours },
    ...(theirs.queue === undefined ? [] : [{ theirs: theirs.queue, ours }]),
    ...steps.map((step, i) => ({ theirs: step, ours: ours.steps[i]! })),
  ]
}

function ourAttributes(runs: readonly ComparedRun[]): string {
  const covered = new Set([...keyUses(runs, 'theirs').keys()].map((key) => equivalents[key] ?? key))
  const rows = [...keyUses(runs, 'ours')].filter(([key]) => !covered.has(key)).toSorted(byKey)
  return table(
    ['Key', 'On, type'],
    rows.map(([key, use]) => [code(key), kindOf(use)]),
  )
}
