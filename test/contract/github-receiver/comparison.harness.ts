import { convert, exportDecision, resolveOptions } from '@penstock/converter'
import { parseLossless, readInput, withJobEvents } from '@penstock/forges'
import { decodeRequest, type OtlpRequest, type Span } from '@penstock/otlp'
import { type GithubReceiver, startGithubReceiver } from '../../collector/github-receiver.ts'
import { type Attributes, attributeMap, type SpanView } from '../attribute-uses.harness.ts'
import { receivedAtNs } from '../fixture-cases.ts'
import { type HookedRun, hookedRuns, type RunHook, runsWithTheSameDigits } from './run-hooks.harness.ts'

/** How the receiver answered a hook. `lost`: with 200, but it exported nothing. */
export type Answer = 'exported' | 'skipped' | 'lost' | 'refused'

export interface AnsweredHook extends RunHook {
  readonly answer: Answer
  /** The status, and the text of a refusal. */
  readonly said: string
}

/** A run and its jobs as one side exports them. */
export interface RunView {
  /** Absent if the run was not exported. */
  readonly run: SpanView | undefined
  /** The jobs by id. */
  readonly jobs: ReadonlyMap<string, JobView>
}

/** The attributes of a job include those of its resource, because the receiver gives a job's attributes to its resource. */
export interface JobView extends SpanView {
  readonly steps: readonly SpanView[]
  readonly queue: SpanView | undefined
}

export interface ComparedRun {
  readonly name: string
  readonly answers: readonly AnsweredHook[]
  readonly theirs: RunView
  readonly ours: RunView
}

export interface Comparison {
  readonly runs: readonly ComparedRun[]
  readonly sameDigits: readonly ComparedRun[]
  /** The status of a hook with a signature made with another secret. */
  readonly wrongSignature: number
}

const options = resolveOptions()

/** Sends the hooks of each run of the fixtures to the receiver and to Penstock, and returns what both made of them. */
export async function compareWithGithubReceiver(): Promise<Comparison> {
  const receiver = await startGithubReceiver()
  try {
    const compared = async (hookedList: readonly HookedRun[]) => {
      const runs: ComparedRun[] = []
      for (const run of hookedList) runs.push({ name: run.name, ...(await send(receiver, run)), ours: ourView(run) })
      return runs
    }
    const runs = await compared(hookedRuns())
    const sameDigits = await compared(runsWithTheSameDigits())
    const { status } = await receiver.postHook('workflow_run', '{}', 'another secret')
    return { runs, sameDigits, wrongSignature: status }
  } finally {
    await receiver.stop()
  }
}

async function send(receiver: GithubReceiver, { hooks }: HookedRun): Promise<Pick<ComparedRun, 'answers' | 'theirs'>> {
  const answers: AnsweredHook[] = []
  const jobs = new Map<string, JobView>()
  let run: SpanView | undefined
  for (const hook of hooks) {
    const { status, message, traces } = await receiver.postHook(hook.event, hook.text)
    answers.push({ ...hook, answer: toAnswer(status, traces), said: `${status} ${message}`.trim() })
    for (const line of traces) {
      const spans = spansWithResource(decodeRequest('traces', Buffer.from(line), 'json'))
      if (hook.event === 'workflow_run') run = spans[0]
      else for (const [id, job] of theirJobs(spans)) jobs.set(id, job)
    }
  }
  return { answers, theirs: { run, jobs } }
}

function toAnswer(status: number, traces: readonly string[]): Answer {
  if (status === 204) return 'skipped'
  if (status !== 200) return 'refused'
  return traces.length === 0 ? 'lost' : 'exported'
}

function theirJobs([job, queue, ...steps]: readonly SpanView[]): [string, JobView][] {
  if (job === undefined) return []
  const id = job.attributes.get(JOB_ID)?.value
  return [[String(id), { ...job, steps: steps.map(({ span }) => ownView(span)), queue: queue && ownView(queue.span) }]]
}

const JOB_ID = 'cicd.pipeline.task.run.id'

function ourView({ hooks }: HookedRun): RunView {
  const inputs = hooks.map(({ text }) => readInput(parseLossless(text), { receivedAtNs }))
  const events = inputs.flatMap((input) => (input.kind === 'job' ? [input.event] : []))
  const record = inputs.flatMap((input) => (input.kind === 'pipeline' ? [input.record] : [])).at(-1)
  if (record === undefined || exportDecision(record, options).kind === 'skip')
    return { run: undefined, jobs: new Map() }
  const [run, ...spans] = spansWithResource(convert(withJobEvents(record, events), options).traces)
  const jobs = spans.filter(({ attributes }) => attributes.has(JOB_ID))
  const stepsBelow = (parentId: string) =>
    spans.filter(({ span }) => span.parentSpanId === parentId).map(({ span }) => ownView(span))
  return {
    run,
    jobs: new Map(
      jobs.map((job) => {
        const id = String(job.attributes.get(JOB_ID)?.value)
        return [id, { ...job, steps: stepsBelow(job.span.spanId), queue: undefined }]
      }),
    ),
  }
}

/** Returns the spans of a request, each with its own attributes and those of its resource. */
function spansWithResource({ resources }: OtlpRequest<'traces'>): SpanView[] {
  return resources.flatMap(({ resource, scopes }) =>
    scopes.flatMap(({ items }) =>
      items.map((span) => ({ span, attributes: attributeMap([...resource.attributes, ...span.attributes]) })),
    ),
  )
}

const ownView = (span: Span): SpanView => ({ span, attributes: attributeMap(span.attributes) as Attributes })

/** A run, or a job of it, that both sides export. */
export interface Pair<View extends SpanView> {
  readonly theirs: View
  readonly ours: View
}

export const runPairs = (runs: readonly ComparedRun[]): Pair<SpanView>[] =>
  runs.flatMap(({ theirs, ours }) => (theirs.run && ours.run ? [{ theirs: theirs.run, ours: ours.run }] : []))

export const jobPairs = (runs: readonly ComparedRun[]): Pair<JobView>[] =>
  runs.flatMap(({ theirs, ours }) =>
    [...theirs.jobs].flatMap(([id, job]) => {
      const ourJob = ours.jobs.get(id)
      return ourJob === undefined ? [] : [{ theirs: job, ours: ourJob }]
    }),
  )
