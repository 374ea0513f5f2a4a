import { type AnyValue, StatusCode } from '@penstock/otlp'
import { byKey, type KeyUse, kindOf, type SpanView, typeRemark } from './attribute-uses.harness.ts'
import {
  agreementOn,
  type Case,
  keyUses,
  type Outcome,
  type Pair,
  pairsOf,
  type TraceView,
} from './gitlab-receiver-comparison.harness.ts'
import { code, sum, table } from './markdown.ts'
import { equivalents, remarks } from './receiver-equivalents.ts'

interface Omission {
  readonly status: string
  readonly why: string
  covers(answer: string, hook: { object_attributes: { finished_at?: unknown } }): boolean
}

/** The reasons why the receiver does not export a pipeline that we export, by its answer. */
const omissionReasons: readonly Omission[] = [
  {
    status: '400',
    why: 'no `created_at`, ref, commit, project id or project path',
    covers: (answer) => answer.startsWith('400 missing required field: '),
  },
  {
    status: '400',
    why: 'an optional field with the wrong type',
    covers: (answer) => /^400 (json: cannot unmarshal|strconv)/.test(answer),
  },
  {
    status: '500',
    why: 'a date in a format other than `… UTC` or RFC 3339, or a date that does not exist',
    covers: (answer) => /^500 .*(cannot parse|out of range)/.test(answer),
  },
  {
    status: '500',
    why: 'a job without a start or finish time',
    covers: (answer) => /^500 .*time is empty$/.test(answer),
  },
  {
    status: '500',
    why: 'a job without a stage',
    covers: (answer) => /^500 .*stageName is empty$/.test(answer),
  },
  {
    status: '204',
    why: 'no `finished_at`',
    covers: (answer, hook) => answer === '204' && !hook.object_attributes.finished_at,
  },
  {
    status: '204',
    why: 'a status in another spelling (`failure`, `cancelled`)',
    covers: (answer, hook) => answer === '204' && Boolean(hook.object_attributes.finished_at),
  },
]

/** Returns the text of `docs/evidence/compared-with-gitlabreceiver.md`. Every figure in it is measured. */
export function comparisonPage(cases: readonly Case[]): string {
  const pairs = pairsOf(cases)
  const theirs = pairs.map((pair) => pair.theirs)
  const ours = pairs.map((pair) => pair.ours)
  return `<!-- Generated from a run of the real receiver by npm run docs; test/contract checks it. Do not edit. -->

# Compared with the Collector's gitlabreceiver

The OpenTelemetry Collector can turn GitLab pipeline hooks into traces with its \`gitlabreceiver\` (alpha). This page compares
its output with Penstock's: both received the ${cases.length} pipeline hooks in \`fixtures/pipelines\`, one by one. The receiver is that
of contrib 0.158 in a running collector, with \`include_user_attributes: true\` so that every key occurs; Penstock ran with its
defaults.

Each fixture is unusual in one way, on purpose. The counts therefore show which differences matter, not how often a real
instance would meet them.

${outcomes(cases)}

## Differences that matter

${omissions(cases)}

**Times.** ${times(pairs)} Hooks have times in these formats:

${dates(cases)}

**Ids and trees.** ${trees(cases, pairs)}

**Names.** ${names(pairs)}

**Values.** ${values(pairs)}

**Shape.** ${shape(pairs)}

**The receiver exports these and Penstock does not by default:** stage spans (Penstock has them with \`stageSpans: true\`), names
and e-mail addresses of commit authors, commit timestamps, default branch and namespace of the project, and URL and path of an
upstream project. Without \`include_user_attributes\`, the receiver omits users and commit messages; Penstock exports them by
default (options \`user\` and \`commitMessage\`).

**Penstock exports these and the receiver does not:** metrics, logs, bridges, links between attempts and between pipelines of
different projects, and the ${onlyOurs(theirs, ours).length} keys that are listed below.

## Attributes of the receiver

The table covers the ${pairs.length} hooks that both export. *Same* compares, for each run or job, the receiver's value with
Penstock's value of the key in the same row, as text. Blank values of the receiver are not counted.

${theirAttributes(pairs)}

## Attributes that only Penstock sends

${ourAttributes(theirs, ours)}

## Case by case

${caseTable(cases)}
`
}

function outcomes(cases: readonly Case[]): string {
  const count = (side: 'theirs' | 'ours', is: (outcome: Outcome) => boolean) =>
    cases.filter((each) => is(each[side])).length
  const refusedWith = (status: string) => (outcome: Outcome) =>
    outcome.kind === 'refused' && outcome.reason.startsWith(status)
  const row = (what: string, is: (outcome: Outcome) => boolean) => [what, count('theirs', is), count('ours', is)]
  return table(
    ['Outcome', 'gitlabreceiver', 'Penstock'],
    [
      row('exported', ({ kind }) => kind === 'exported'),
      row('refused with 400', refusedWith('400')),
      row('refused with 500', refusedWith('500')),
      row('skipped as not finished', ({ kind }) => kind === 'skipped'),
      ['spans', spansOf(cases, 'theirs'), spansOf(cases, 'ours')],
    ],
  )
}

function spansOf(cases: readonly Case[], side: 'theirs' | 'ours'): number {
  return sum(cases.map((each) => spanCount(each[side]) ?? 0))
}

function omissions(cases: readonly Case[]): string {
  const left = cases.filter(({ theirs, ours }) => ours.kind === 'exported' && theirs.kind !== 'exported')
  const counts = new Map(omissionReasons.map((reason) => [reason, 0]))
  for (const { name, text, theirs } of left) {
    const answer = theirs.kind === 'exported' ? '' : theirs.reason
    const reason = omissionReasons.find(({ covers }) => covers(answer, JSON.parse(text)))
    if (reason === undefined) throw new Error(`${name}: no known reason covers ${answer}`)
    counts.set(reason, counts.get(reason)! + 1)
  }
  const rows = [...counts].map(([{ status, why }, count]) => [code(status), why, count])
  const exported = left.length + pairsOf(cases).length
  return `**Missing pipelines.** Of the ${exported} finished pipelines that Penstock exports, ${left.length} are completely missing from the receiver's
output:

${table(['Answer', 'Reason', 'Hooks'], rows)}`
}

function times(pairs: readonly Pair[]): string {
  const matched = matchedSpans(pairs)
  const same = matched.filter(({ theirs: { span: a }, ours: { span: b } }) => {
    return a.startTimeUnixNano === b.startTimeUnixNano && a.endTimeUnixNano === b.endTimeUnixNano
  })
  const backwards = allSpans(pairs, 'theirs').filter((span) => span.endTimeUnixNano < span.startTimeUnixNano)
  const ours = allSpans(pairs, 'ours').filter((span) => span.endTimeUnixNano < span.startTimeUnixNano)
  const beyond = allSpans(pairs, 'theirs').filter((span) => span.endTimeUnixNano > 2n ** 63n)
  return `Of ${matched.length} pipeline and job spans that both export, ${same.length} have the same start and end to the nanosecond. The receiver
exports ${backwards.length} spans that end before they start (Penstock ${ours.length}), and ${beyond.length} in the year 2339. The latter comes from relays that write
the year 1 for a missing time: in nanoseconds, that year does not fit into 64 bits.`
}

/** Returns the table of the cases that test only the format of a time. */
function dates(cases: readonly Case[]): string {
  const rows = cases
    .filter(({ name }) => /^e(08|09|10)-/.test(name))
    .map(({ text, theirs, ours }) => [
      code(JSON.parse(text).object_attributes.finished_at),
      theirs.kind === 'refused' ? `refused: ${theirs.reason.slice(0, 3)}` : theirs.kind,
      ours.kind,
    ])
  return table(['`finished_at`', 'gitlabreceiver', 'Penstock'], rows)
}

function trees(cases: readonly Case[], pairs: readonly Pair[]): string {
  const children = pairs.filter(({ ours }) => ours.pipeline.span.parentSpanId !== '')
  const joined = children.filter(({ theirs }) => theirs.pipeline.span.parentSpanId !== '')
  const repeated = sum(
    pairs.map(({ theirs }) => theirs.spans.length - new Set(theirs.spans.map((span) => span.spanId)).size),
  )
  const [first, , again] = ['[0]', '[1]', '[2]'].map((index) =>
    cases.find(({ name }) => name === `e41-finishes-again-after-a-retry${index}`),
  )
  const traceIds = (side: 'theirs' | 'ours') => new Set([first, again].map((each) => getTraceId(each?.[side]))).size
  return `The receiver derives its ids from the finish time as well: a running job cannot know the id of its trace, and a pipeline
that finishes again after a retry becomes another trace (\`e41-…\`: ${traceIds('theirs')} traces, Penstock ${traceIds('ours')}). Of ${children.length} child pipelines that Penstock
adds to the trace of their parent, the receiver adds ${joined.length}. If a job occurs twice in one hook, the receiver's spans share an id
(${repeated} here).`
}

function getTraceId(outcome: Outcome | undefined): string {
  if (outcome?.kind !== 'exported') throw new Error('not exported')
  return outcome.trace.pipeline.span.traceId
}

function names(pairs: readonly Pair[]): string {
  const byCommit = pairs.filter(({ theirs, text }) => {
    const { name } = theirs.pipeline.span
    return name !== '' && name === JSON.parse(text).commit?.title
  })
  return `Most pipelines have no name. The receiver then names the span after the title of the commit (${byCommit.length} of ${pairs.length}), which is
different for every commit; Penstock names it \`RUN <project>\`. The receiver's spans of stages and jobs have just their names and
the kind SERVER; Penstock's are named \`job: <name>\` and have the kind INTERNAL.`
}

function values(pairs: readonly Pair[]): string {
  const resultsOf = (side: 'theirs' | 'ours') =>
    [...new Set(pairs.map((pair) => runValue(pair[side], 'cicd.pipeline.result')?.value))]
      .map((value) => code(String(value)))
      .toSorted()
      .join(', ')
  const uses = [...keyUses(pairs.map(({ theirs }) => theirs)).values()]
  const blank = sum(uses.map((use) => use.blank))
  const ourBlank = sum([...keyUses(pairs.map(({ ours }) => ours)).values()].map((use) => use.blank))
  const noWorker = pairs
    .flatMap(({ theirs }) => [...theirs.jobs.values()])
    .filter(({ attributes }) => attributes.get('cicd.worker.id')?.value === 0n)
  const canceled = matchedSpans(pairs).filter(({ ours }) => isCanceled(ours))
  const codes = (side: 'theirs' | 'ours') => new Set(canceled.map((each) => each[side].span.status?.code ?? 0))
  const named = { 0: 'UNSET', 1: 'OK', 2: 'ERROR' } as Record<number, string>
  const namesOf = (side: 'theirs' | 'ours') => [...codes(side)].map((code) => named[code]).join(' and ')
  return `The semantic conventions define a few values for \`cicd.pipeline.result\`; the receiver sends the raw status (${resultsOf('theirs')};
Penstock ${resultsOf('ours')}). Its run and worker ids are integers; Penstock's are strings, as the conventions
require. For missing values it sends empty strings (${blank} of ${sum(uses.map((use) => use.values))} values; Penstock ${ourBlank}), the number 0 or false. For example, ${noWorker.length} jobs without a runner have
the worker 0. Canceled runs and jobs have the status ${namesOf('theirs')}; with Penstock it is ${namesOf('ours')} (option \`canceledAsError\`).`
}

const isCanceled = ({ attributes }: SpanView): boolean =>
  ['pipeline.status', 'job.status'].some((key) => attributes.get(key)?.value === 'canceled')

function shape(pairs: readonly Pair[]): string {
  const scopes = (side: 'theirs' | 'ours') => sum(pairs.map((pair) => pair[side].scopes))
  const jobs = (side: 'theirs' | 'ours') => sum(pairs.map((pair) => pair[side].jobs.size))
  const stages = pairs.flatMap(({ theirs }) =>
    theirs.stages.map(({ span }) => ({ span, jobs: [...theirs.jobs.values()] })),
  )
  const fine = stages.filter(
    ({ span, jobs }) =>
      span.status?.code === StatusCode.OK &&
      jobs.some((job) => job.span.parentSpanId === span.spanId && job.span.status?.code === StatusCode.ERROR),
  )
  return `The receiver puts every span into a separate scope without a name (${scopes('theirs')} scopes; Penstock ${scopes('ours')}, one per trace). It
puts attributes of the run on the resource, so that every run is a separate resource. Unfinished jobs and all bridges have no
span: it exports ${jobs('theirs')} jobs, Penstock ${jobs('ours')}. A stage has the status of its first job: ${fine.length} of ${stages.length} stage spans are OK although a job
in the stage has failed.`
}

function theirAttributes(pairs: readonly Pair[]): string {
  const ours = keyUses(pairs.map((pair) => pair.ours))
  const rows = [...keyUses(pairs.map((pair) => pair.theirs))].toSorted(byKey).map(([key, use]) => {
    const ourKey = equivalents[key] ?? key
    const ourUse = ours.get(ourKey)
    const { compared, same } = agreementOn(key, pairs)
    return [
      code(key),
      kindOf(use),
      use.blank === 0 ? '' : `${use.blank} of ${use.values}`,
      ourUse === undefined ? '–' : ourKey === key ? 'same key' : code(ourKey),
      ourUse === undefined ? '' : typeRemark(use, ourUse),
      ourUse === undefined ? '' : `${same} of ${compared}`,
      remarks[key] ?? '',
    ]
  })
  return table(['Key', 'On, type', 'Blank', 'Ours', 'On, type', 'Same', 'Why'], rows)
}

function onlyOurs(theirs: readonly TraceView[], ours: readonly TraceView[]): [string, KeyUse][] {
  const theirUses = keyUses(theirs)
  const covered = new Set([...theirUses.keys()].map((key) => equivalents[key] ?? key))
  return [...keyUses(ours)].filter(([key]) => !covered.has(key)).toSorted(byKey)
}

function ourAttributes(theirs: readonly TraceView[], ours: readonly TraceView[]): string {
  const rows = onlyOurs(theirs, ours).map(([key, use]) => [code(key), kindOf(use)])
  return `Many of these are older keys with the same value as another key; \`docs/reference/telemetry.md\` lists the pairs.

${table(['Key', 'On, type'], rows)}`
}

function caseTable(cases: readonly Case[]): string {
  const rows = cases.map(({ name, theirs, ours }) => [
    code(name),
    outcomeText(theirs),
    spanCount(theirs) ?? '',
    outcomeText(ours),
    spanCount(ours) ?? '',
  ])
  return `The receiver's spans include one per stage that ran. It answers 204 to a hook that it ignores.

${table(['Hook', 'gitlabreceiver', 'Spans', 'Penstock', 'Spans'], rows)}`
}

function outcomeText(outcome: Outcome): string {
  return outcome.kind === 'exported' ? 'exported' : `${outcome.kind}: ${outcome.reason}`
}

const spanCount = (outcome: Outcome): number | undefined =>
  outcome.kind === 'exported' ? outcome.trace.spans.length : undefined

function allSpans(pairs: readonly Pair[], side: 'theirs' | 'ours') {
  return pairs.flatMap((pair) => pair[side].spans)
}

/** Returns pairs of spans: the pipeline spans, and the job spans with the same job id. */
function matchedSpans(pairs: readonly Pair[]): { theirs: SpanView; ours: SpanView }[] {
  return pairs.flatMap(({ theirs, ours }) => {
    const jobs = [...theirs.jobs].flatMap(([id, job]) => {
      const ourJob = ours.jobs.get(id)
      return ourJob === undefined ? [] : [{ theirs: job, ours: ourJob }]
    })
    return [{ theirs: theirs.pipeline, ours: ours.pipeline }, ...jobs]
  })
}

const runValue = ({ resource, pipeline }: TraceView, key: string): AnyValue | undefined =>
  resource.get(key) ?? pipeline.attributes.get(key)
