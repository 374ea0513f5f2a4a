import { JobVariablesError, type PipelineRecord, type RunId, type RunningJob } from '@penstock/forges/record'
import { createPlan, type PlannedJob, type PlannedRun } from '../attributes/plan.ts'
import { attributesFrom, type CompiledTable } from '../base/attribute-table.ts'
import type { ConvertOptions } from '../base/options.ts'
import { ATTR_CICD_PIPELINE_NAME } from '../base/semconv.ts'
import { getInstance } from '../run/identity.ts'
import { jobRun, joinedUpstream, pipelineRun } from '../run/run.ts'
import { percentEncode } from './resource-attribute-list.ts'

/** The position of a job in its pipeline's trace, for the tools that the job runs. */
export interface JobTraceContext {
  readonly traceId: string
  /** The id of the job's span, which is the parent of the tools' spans; that of the pipeline's span if the job's id is unknown. */
  readonly spanId: string
  readonly pipelineSpanId: string
  /** The W3C trace context: the values of `TRACEPARENT` and `TRACESTATE`. With hashed ids, `TRACESTATE` is ''. */
  readonly traceparent: string
  readonly tracestate: string
  /** False if the root pipeline is unknown, so that the direct parent is assumed to be the root. */
  readonly rootResolved: boolean
  /** The attributes that the exported pipeline and job will have too, with the same values. */
  readonly resourceAttributes: ReadonlyMap<string, string>
  /** The keys of attributes that are left out because their encoded values are longer than `maxAttributeLength`. */
  readonly tooLong: readonly string[]
}

export interface JobTraceContextRequest {
  readonly job: RunningJob
  /** The options of the export; ids depend on `idScheme`, `instanceId` and `multiProject`. */
  readonly options: ConvertOptions
  /** The root pipeline that the caller names; it takes precedence over the one that the job was passed. */
  readonly rootPipelineId?: RunId | undefined
}

/**
 * The length limit of an encoded value: the OpenTelemetry SDK for JavaScript discards all attributes of the variable if
 * one value is longer. SDK 1.x measures the percent-encoded text, SDK 2.x the decoded text, which is never longer.
 */
export const maxAttributeLength = 255

/**
 * Returns the trace context that the export will give to a running job. The ids are computed by the conversion itself, so they
 * are the same.
 *
 * @throws {JobVariablesError} if the job's variables do not say which trace it belongs to
 */
export function jobTraceContext(request: JobTraceContextRequest): JobTraceContext {
  const { job: given, options } = request
  const plan = createPlan(options)
  const record = withRootOf(request)
  const { server, webUrl } = record.project
  // The hook will contain a URL, so no other variable of the job may replace its host.
  if (options.instanceId === undefined && server === undefined && getInstance(webUrl) === '')
    throw new JobVariablesError(`${given.variables.projectUrl} is not set; without it, ids need an instance id`)
  const run = pipelineRun(record, plan)
  const [running] = record.jobs
  const job = running && jobRun(running, run)
  const spanId = job?.spanId ?? run.spanId
  const isUnknown = (key: string): boolean => given.isNameUnknown === true && key === ATTR_CICD_PIPELINE_NAME
  const shared = sharedAttributes(run, job).filter(([key]) => !isUnknown(key))
  const fits = ([, value]: readonly [string, string]): boolean => percentEncode(value).length <= maxAttributeLength
  return {
    traceId: run.traceId,
    spanId,
    pipelineSpanId: run.spanId,
    traceparent: `00-${run.traceId}-${spanId}-${flagsText(run.ids.traceFlags)}`,
    tracestate: run.traceState,
    rootResolved: run.rootResolved,
    resourceAttributes: new Map(shared.filter(fits)),
    tooLong: shared.filter((entry) => !fits(entry)).map(([key]) => key),
  }
}

/** Returns the flags of the exported spans as two hexadecimal digits. */
const flagsText = (flags: number): string => flags.toString(16).padStart(2, '0')

/** Returns the attributes that are known while the job runs. All are texts: `OTEL_RESOURCE_ATTRIBUTES` has no other type. */
function sharedAttributes(run: PlannedRun, job: PlannedJob | undefined): (readonly [string, string])[] {
  const { plan, tally } = run
  const attributes = [
    ...attributesFrom(knownInJob(plan.resourceAttributes), run, tally),
    ...attributesFrom(knownInJob(plan.pipelineAttributes), run, tally),
    ...(job === undefined ? [] : attributesFrom(knownInJob(plan.jobAttributes), job, tally)),
  ]
  return attributes.flatMap(({ key, type, value }) => (type === 'string' ? [[key, value] as const] : []))
}

/** Returns the rows that are known in a job, with their last key only: tools need no legacy keys. */
function knownInJob<Context>({ rows }: CompiledTable<Context>): CompiledTable<Context> {
  const known = rows.filter((row) => row.knownInJob)
  return {
    rows: known.map((row) => ({ ...row, keys: [row.keys.at(-1)!] as const, lastRaw: undefined, lastAttributes: [] })),
    scratch: [],
  }
}

/**
 * The source of a pipeline that another pipeline has started: `CHILD` in the same project, `MULTI_PROJECT` in another
 * project.
 */
const CHILD = 'parent_pipeline'
const MULTI_PROJECT = 'pipeline'

/** Returns the record with the root that was named or passed on; a pipeline that is its own root keeps itself as root. */
function withRootOf({ job, options, rootPipelineId: named }: JobTraceContextRequest): PipelineRecord {
  const { record, variables } = job
  const isMultiProject = record.source === MULTI_PROJECT || record.upstream?.otherProject === true
  const isChild = record.source === CHILD || record.upstream !== undefined
  const hasOtherRoot = isMultiProject ? options.multiProject === 'same-trace' : isChild
  if (!hasOtherRoot && !job.isUpstreamUnknown) {
    if (named === undefined || named === record.id) return record
    throw new JobVariablesError(`root pipeline id: ${ownRootReason(job, isMultiProject)}`)
  }
  const root = named ?? readPassedRoot(job)
  if (root !== undefined) return withRoot(record, root)
  if (!hasOtherRoot) return record
  if (joinedUpstream(record, options) !== undefined) return record
  throw new JobVariablesError(
    `this pipeline was started by another one, and no variable says by which: its trigger job has to pass on ${variables.root}`,
  )
}

const readPassedRoot = ({ passedRoot, parseRunId, variables }: RunningJob): RunId | undefined =>
  passedRoot === undefined ? undefined : parseRunId(variables.root ?? 'root pipeline id', passedRoot)

function withRoot(record: PipelineRecord, rootPipelineId: RunId): PipelineRecord {
  const { upstream } = record
  return {
    ...record,
    rootPipelineId,
    upstream: upstream?.otherProject ? { ...upstream, rootPipelineId } : upstream,
  }
}

function ownRootReason({ record, variables }: RunningJob, isMultiProject: boolean): string {
  if (isMultiProject)
    return 'a pipeline that another project has started has a trace of its own, unless multi-project is same-trace'
  const origin =
    variables.source === undefined ? 'this one was not' : `${variables.source} is ${record.source ?? 'not set'}`
  return `is for pipelines that another one has started, but ${origin}`
}
