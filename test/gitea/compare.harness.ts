import type { Span } from '@penstock/otlp'
import type { EndToEnd, JobContext, PlayedAttempt } from './end-to-end.harness.ts'
import { differences, spansOfBundle, textOf } from './exported-spans.harness.ts'
import type { Answer } from './gitea-server.ts'
import type { RanJob } from './play.ts'
import { hookKinds } from './pottery.ts'

/** Returns what is wrong with the exports of real runs: spans that are missing, sent twice, or differ from what the server says. */
export function faultsIn(played: EndToEnd): string[] {
  const expected = played.attempts.flatMap(({ bundle }) => spansOfBundle(bundle))
  const refused = played.hooks.filter(({ status }) => status !== 202)
  const faults = [...played.undelivered, ...refused.map(({ status }) => `a hook was answered ${status}`)]
  for (const kind of hookKinds) {
    const of = (fault: string) => `${kind} webhook: ${fault}`
    faults.push(...differences(expected, played.spans[kind]).map(of))
    faults.push(...played.attempts.flatMap((attempt) => attemptFaults(attempt, played.spans[kind])).map(of))
    const logged = played.logs[kind].map(({ spanId }) => spanId)
    const spans = expected.filter(({ name }) => !name.startsWith('step: ')).map(({ spanId }) => spanId)
    if (logged.toSorted().join() !== spans.toSorted().join())
      faults.push(of(`${logged.length} log records of ${spans.length}`))
  }
  faults.push(...played.contexts.flatMap((context) => strangeContext(context, expected)))
  if (/@noreply|canary/.test(textOf([played.spans, played.logs]))) faults.push('an e-mail address was exported')
  return faults
}

/** Compares the spans of an attempt with what the server and the runner say, without our reader. */
function attemptFaults({ name, attempt, bundle, jobs }: PlayedAttempt, exported: readonly Span[]): string[] {
  const { run } = bundle
  const at = (time: string) => BigInt(Date.parse(time)) * 1_000_000n
  const root = exported.find((span) => span.name === `RUN ${name}` && span.endTimeUnixNano === at(run.completed_at))
  if (root === undefined) return [`no span of run ${run.id} that ended at ${run.completed_at}`]
  const children = exported.filter(({ parentSpanId }) => parentSpanId === root.spanId)
  const faults = missing(root, {
    'cicd.pipeline.name': name,
    'cicd.pipeline.run.id': String(run.id),
    'cicd.pipeline.run.url.full': run.html_url,
    'cicd.pipeline.result': run.conclusion,
    'vcs.ref.head.revision': run.head_sha,
    'vcs.repository.url.full': run.html_url.replace(/\/actions\/.*/, ''),
    'vcs.repository.name': run.repository.name,
    'vcs.owner.name': run.repository.owner.login,
    'vcs.provider.name': 'gitea',
  })
  // A run waits for a runner from its creation, which only its jobs tell. A second attempt has none of its own.
  const created = (bundle.jobs.jobs as Answer[]).map((job) => job.created_at as string).toSorted()[0] ?? ''
  const start = run.run_attempt === 0 && attempt > 1 && name === 'Checks' ? run.started_at : created
  if (root.startTimeUnixNano !== at(start)) faults.push(`run ${run.id} started at ${start}`)
  for (const ran of jobs) {
    const job = (bundle.jobs.jobs as Answer[]).find((each) => isRanBy(each, ran))
    const span = children.find((each) => each.name === `job: ${job?.name}`)
    if (job === undefined || span === undefined)
      faults.push(`no span of a job ${ran.task.context.job} of run ${run.id}`)
    else faults.push(...jobFaults(job, ran, span, exported))
  }
  return faults
}

/** The jobs of a matrix have one id in the workflow, and names with their values. */
const isRanBy = (job: Answer, { task }: RanJob): boolean =>
  job.name === (/^ {8}name: (.+)$/m.exec(task.workflow)?.[1] ?? task.context.job)

const results = { SUCCESS: 'success', FAILURE: 'failure', SKIPPED: 'skip', CANCELLED: 'cancellation' } as const

function jobFaults(job: Answer, { result, steps }: RanJob, span: Span, exported: readonly Span[]): string[] {
  const faults = missing(span, {
    'cicd.pipeline.task.name': job.name,
    'cicd.pipeline.task.run.id': String(job.id),
    'cicd.pipeline.task.run.url.full': job.html_url,
    'cicd.pipeline.task.run.result': results[result],
    'cicd.worker.id': String(job.runner_id),
    'cicd.worker.name': 'wheel-runner',
  })
  const ran = steps.filter(({ startedMs }) => startedMs !== undefined)
  const stepSpans = exported.filter(({ parentSpanId }) => parentSpanId === span.spanId)
  const seconds = (ms: number | undefined) => BigInt(Math.floor((ms ?? 0) / 1_000)) * 1_000_000_000n
  const times = ran.map(({ startedMs, stoppedMs }) => `${seconds(startedMs)} ${seconds(stoppedMs)}`)
  const spans = stepSpans.map(({ startTimeUnixNano, endTimeUnixNano }) => `${startTimeUnixNano} ${endTimeUnixNano}`)
  if (times.join() !== spans.join()) faults.push(`steps of ${job.name}: ${spans.join()} instead of ${times.join()}`)
  if (result !== 'SKIPPED' && span.endTimeUnixNano !== seconds(ran.at(-1)?.stoppedMs))
    faults.push(`${job.name} ended at another time than the runner says`)
  return faults
}

function missing({ name, attributes }: Span, expected: Readonly<Record<string, string>>): string[] {
  const values = new Map(attributes.map(({ key, value }) => [key, value]))
  return Object.entries(expected)
    .filter(([key, value]) => values.get(key) !== value)
    .map(([key, value]) => `${name}: ${key} is ${textOf(values.get(key))} instead of ${value}`)
}

/**
 * Compares the ids that a job computed with those of the exported spans. Gitea gives a job that first ran in a later attempt of its run
 * the number of its own attempt, so that its trace is that of an earlier attempt.
 */
function strangeContext({ task, jobId, withId, withoutId }: JobContext, exported: readonly Span[]): string[] {
  const isFirstOfRerun = task.context.job === 'report'
  const job = exported.find(({ traceId, spanId }) => traceId === withId.trace_id && spanId === withId.span_id)
  const run = exported.find(({ traceId, spanId }) => traceId === withoutId.trace_id && spanId === withoutId.span_id)
  const faults: string[] = []
  if (run?.parentSpanId !== '') faults.push(`job ${jobId} computed a span id without its id that no run has`)
  if (!isFirstOfRerun && job?.parentSpanId !== run?.spanId)
    faults.push(`job ${jobId} computed a span id that it has not`)
  return faults
}
