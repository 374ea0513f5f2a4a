import { convert, exportDecision, resolveOptions } from '@penstock/converter'
import { parseLossless, RecordError, readInput } from '@penstock/forges'
import { type AnyValue, decodeRequest, type OtlpRequest, type Span } from '@penstock/otlp'
import { type GitlabReceiver, startGitlabReceiver } from '../collector/gitlab-receiver.ts'
import {
  type Attributes,
  attributeMap,
  countKeys,
  type KeyUse,
  type SpanView,
  valueText,
} from './attribute-uses.harness.ts'
import { receivedAtNs } from './fixture-cases.ts'
import { type HookBody, pipelineHookBodies } from './hook-bodies.ts'
import { equivalents } from './receiver-equivalents.ts'

export type Outcome =
  | { readonly kind: 'exported'; readonly trace: TraceView }
  /** Refused with a status and a reason that the sender sees. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Neither exported nor refused; `reason` is only logged. */
  | { readonly kind: 'skipped'; readonly reason: string }

export interface Case extends HookBody {
  readonly theirs: Outcome
  readonly ours: Outcome
}

/**
 * The parts of a trace, for comparing two ways to build it. The first span is the pipeline's, spans with a task run id are
 * jobs, and the others are stages.
 */
export interface TraceView {
  readonly spans: readonly Span[]
  readonly scopes: number
  readonly pipeline: SpanView
  readonly stages: readonly SpanView[]
  /** The job spans by job id. */
  readonly jobs: ReadonlyMap<string, SpanView>
  readonly resource: Attributes
}

const options = resolveOptions()

/** Sends every pipeline hook of the fixtures to the receiver and to Penstock, one by one, and returns both outcomes. */
export async function compareWithGitlabReceiver(): Promise<Case[]> {
  // With user attributes, so that every key of the receiver occurs.
  const receiver = await startGitlabReceiver({ includeUserAttributes: true })
  try {
    const cases: Case[] = []
    for (const body of pipelineHookBodies()) {
      cases.push({ ...body, theirs: await theirsOf(receiver, body), ours: oursOf(body) })
    }
    return cases
  } finally {
    await receiver.stop()
  }
}

async function theirsOf(receiver: GitlabReceiver, { text }: HookBody): Promise<Outcome> {
  const { status, message, traces } = await receiver.postPipelineWebhook(text)
  if (status === 204) return { kind: 'skipped', reason: '204' }
  if (status !== 200) return { kind: 'refused', reason: `${status} ${message}` }
  const [line, ...more] = traces
  if (line === undefined || more.length > 0) throw new Error(`${traces.length} requests for one hook`)
  return { kind: 'exported', trace: traceView(decodeRequest('traces', Buffer.from(line), 'json')) }
}

function oursOf({ text }: HookBody): Outcome {
  try {
    const input = readInput(parseLossless(text), { receivedAtNs })
    if (input.kind !== 'pipeline') throw new Error('not a pipeline hook')
    const decision = exportDecision(input.record, options)
    if (decision.kind === 'skip') return { kind: 'skipped', reason: decision.reason }
    return { kind: 'exported', trace: traceView(convert(input.record, options).traces) }
  } catch (error) {
    if (!(error instanceof RecordError)) throw error
    return { kind: 'refused', reason: error.message }
  }
}

const JOB_ID = 'cicd.pipeline.task.run.id'
const isJob = (attributes: Attributes): boolean => attributes.has(JOB_ID)

function traceView({ resources }: OtlpRequest<'traces'>): TraceView {
  const [group, ...more] = resources
  if (group === undefined || more.length > 0) throw new Error(`${resources.length} resources for one hook`)
  const views = group.scopes
    .flatMap(({ items }) => items)
    .map((span) => ({ span, attributes: attributeMap(span.attributes) }))
  const jobs = views.filter(({ attributes }) => isJob(attributes))
  const [pipeline] = views
  return {
    spans: views.map(({ span }) => span),
    scopes: group.scopes.length,
    pipeline: pipeline!,
    stages: views.filter((view) => view !== pipeline && !isJob(view.attributes)),
    jobs: new Map(jobs.map((view) => [String(view.attributes.get(JOB_ID)?.value), view])),
    resource: attributeMap(group.resource.attributes),
  }
}

export function keyUses(traces: readonly TraceView[]): Map<string, KeyUse> {
  return countKeys(
    traces.flatMap(({ resource, pipeline, stages, jobs }) => [
      ['resource', resource] as const,
      ['pipeline', pipeline.attributes] as const,
      ...stages.map(({ attributes }) => ['stage', attributes] as const),
      ...[...jobs.values()].map(({ attributes }) => ['job', attributes] as const),
    ]),
  )
}

/** The comparison of a key's values that are not blank with the values of our key for it. */
export interface Agreement {
  readonly compared: number
  /** How many values are equal as text. */
  readonly same: number
  /** How many times we have no value. */
  readonly absent: number
}

export function agreementOn(key: string, pairs: readonly Pair[]): Agreement {
  const ourKey = equivalents[key] ?? key
  let [compared, same, absent] = [0, 0, 0]
  const compare = (theirs: AnyValue | undefined, ours: AnyValue | undefined) => {
    if (theirs === undefined || theirs.value === '') return
    compared += 1
    if (ours === undefined) absent += 1
    else if (valueText(theirs) === valueText(ours)) same += 1
  }
  for (const { theirs, ours } of pairs) {
    const runOf = (trace: TraceView, name: string) => trace.resource.get(name) ?? trace.pipeline.attributes.get(name)
    compare(runOf(theirs, key), runOf(ours, ourKey))
    for (const [id, job] of theirs.jobs) compare(job.attributes.get(key), ours.jobs.get(id)?.attributes.get(ourKey))
  }
  return { compared, same, absent }
}

/** A hook that both sides have exported. */
export interface Pair extends HookBody {
  readonly theirs: TraceView
  readonly ours: TraceView
}

export function pairsOf(cases: readonly Case[]): Pair[] {
  return cases.flatMap(({ theirs, ours, ...body }) =>
    theirs.kind === 'exported' && ours.kind === 'exported' ? [{ ...body, theirs: theirs.trace, ours: ours.trace }] : [],
  )
}
