import {
  findEntry,
  integerId,
  isChild,
  type JobEvent,
  type JobRecord,
  type PipelineRecord,
  RecordError,
  type RunId,
  type UpstreamPipeline,
  type UserRecord,
} from '@penstock/forges/record'
import type { ConvertOptions } from '../base/options.ts'
import { OTHER_ERROR, refinedResultByReason, resultByStatus } from '../base/status-maps.ts'
import { newTally, type Tally } from '../base/text.ts'
import {
  forgeInstance,
  getInstance,
  hashedIds,
  type IdScheme,
  isGitlab,
  projectInstance,
  projectInstancePrefix,
  pseudonym,
  runScopedIds,
} from './identity.ts'
import { type JobGroup, jobGroup } from './job-group.ts'
import { withNamedParts } from './named-parts.ts'
import { busySeconds, type JobTimes, jobTimes, pipelineTimes, ranSeconds, type SpanTimes } from './span-times.ts'

/** The part of a conversion plan that derived values depend on. */
export interface RunSettings {
  readonly options: ConvertOptions
  readonly ids: IdScheme
  /** Returns whether the ref attribute of metrics contains this ref unchanged, instead of a common replacement. */
  readonly keepsRef: (ref: string) => boolean
}

/** One record with its plan, and the derived values that several signals need, computed once. */
export interface PipelineRun<Plan extends RunSettings = RunSettings> {
  readonly plan: Plan
  readonly options: ConvertOptions
  readonly ids: IdScheme
  readonly record: PipelineRecord
  /** The instance that the ids of the run's own spans are hashed with. */
  readonly instance: string
  /** The ids of the run's trace and of its parent span: those of another project if it joins the trace of that project. */
  readonly trace: IdSpace
  readonly rootId: RunId
  /** False if the root pipeline is unknown and the direct parent is used instead. */
  readonly rootResolved: boolean
  readonly traceId: string
  readonly spanId: string
  readonly traceState: string
  readonly times: SpanTimes
  /** `observedTimeUnixNano`: the time of receipt, or the pipeline's end if that is unknown. */
  readonly observedNs: bigint
  readonly result: string | undefined
  /** Set exactly when the pipeline failed. */
  readonly errorType: string | undefined
  readonly refType: 'tag' | 'branch' | undefined
  readonly user: UserRecord | undefined
  /** The instance that pseudonyms of users are hashed with. It is computed once per run, because it is parsed from a URL. */
  readonly userInstance: string
  /** The jobs that get a span and a log record, in order. */
  readonly exportedJobs: readonly JobRecord[]
  readonly tally: Tally
}

/** The instance in which ids are unique, and the scheme that derives them. */
export interface IdSpace {
  readonly ids: IdScheme
  readonly instance: string
}

/**
 * Returns the id space of records with an instance of their own. Its ids are always hashed, because the scheme `native`
 * ignores the instance.
 */
export const ownSpace = (instance: string): IdSpace => ({ ids: hashedIds, instance })

/** Returns the scheme of a forge's ids. Only GitLab has traces of its own, with `native` ids. */
export const forgeIds = ({ forge }: PipelineRecord, { ids }: RunSettings): IdScheme =>
  isGitlab(forge) ? ids : runScopedIds

export function recordSpace(record: PipelineRecord, settings: RunSettings): IdSpace {
  if (record.instance !== undefined) return ownSpace(record.instance)
  return { ids: forgeIds(record, settings), instance: recordInstance(record, settings.options) }
}

function traceSpace(record: PipelineRecord, plan: RunSettings): IdSpace {
  const upstream = joinedUpstream(record, plan.options)
  if (upstream === undefined) return recordSpace(record, plan)
  if (!upstream.otherProject) return recordSpace({ ...record, attempt: upstream.attempt }, plan)
  if (upstream.instance !== undefined) return ownSpace(upstream.instance)
  return { ids: forgeIds(record, plan), instance: traceInstance(record, plan.options) }
}

export function traceId(record: PipelineRecord, plan: RunSettings): string {
  const { ids, instance } = traceSpace(record, plan)
  return ids.traceId(instance, traceRoot(record, plan.options).id)
}

/** One job or bridge attempt of a run. */
export interface JobRun<Plan extends RunSettings = RunSettings> {
  readonly run: PipelineRun<Plan>
  readonly job: JobRecord
  readonly spanId: string
  readonly times: JobTimes
  readonly result: string | undefined
  readonly errorType: string | undefined
  readonly user: UserRecord | undefined
  readonly group: JobGroup | undefined
  readonly durationSeconds: number | undefined
}

/**
 * Returns the record with its busy time: the one that the source contains, else the time in which at least one job ran. A
 * missing one of GitLab is unknown, because GitLab computes it itself.
 */
function withBusyTime(record: PipelineRecord): PipelineRecord {
  if (record.durationSeconds !== undefined || isGitlab(record.forge)) return record
  const durationSeconds = busySeconds(record.jobs)
  return durationSeconds === undefined ? record : { ...record, durationSeconds }
}

/** @throws {RecordError} if the record has no time and no receipt time, or lacks a name that the options must give */
export function pipelineRun<Plan extends RunSettings>(given: PipelineRecord, plan: Plan): PipelineRun<Plan> {
  const { options } = plan
  const record = withBusyTime(withNamedParts(given, options))
  const times = pipelineTimes(record)
  if (times === undefined) throw new RecordError('created_at', 'no time in the record, and no time of receipt')
  const { ids, instance } = recordSpace(record, plan)
  const trace = traceSpace(record, plan)
  const root = traceRoot(record, options)
  const userInstance = recordInstance({ ...record, attempt: undefined }, options)
  const errorType = pipelineErrorType(record)
  const later =
    record.previousExport !== undefined && options.reexport === 'link'
      ? (record.finishedAtNs ?? times.endNs)
      : undefined
  const tally = newTally()
  if (times.adjusted) tally.adjustedSpans++
  return {
    plan,
    options,
    ids,
    record,
    instance,
    trace,
    rootId: root.id,
    rootResolved: root.resolved,
    traceId: trace.ids.traceId(trace.instance, root.id),
    spanId: ids.pipelineSpanId(instance, root.id, record.id, later),
    traceState: trace.ids.traceState(trace.instance, root.id),
    times,
    observedNs: record.receivedAtNs ?? times.endNs,
    result: resultOf(record.status, errorType, options),
    errorType,
    refType: refTypeOf(record),
    user: maskedUser(record.user, userInstance, options),
    userInstance,
    exportedJobs: exportedJobs(record, times, options),
    tally,
  }
}

export function jobRun<Plan extends RunSettings>(job: JobRecord, run: PipelineRun<Plan>): JobRun<Plan> {
  const times = jobTimes(job, run.times)
  if (times.adjusted) run.tally.adjustedSpans++
  const errorType = job.status === 'failed' ? (job.failureReason ?? OTHER_ERROR) : undefined
  return {
    run,
    job,
    spanId: run.ids.jobSpanId(run.instance, run.rootId, run.record.id, job),
    times,
    result: resultOf(job.status, errorType, run.options),
    errorType,
    group: job.group ?? (job.name !== undefined && isGitlab(run.record.forge) ? jobGroup(job.name) : undefined),
    durationSeconds: job.durationSeconds ?? (isGitlab(run.record.forge) ? undefined : ranSeconds(job)),
    user: sameUser(job.user, run.record.user) ? run.user : maskedUser(job.user, run.userInstance, run.options),
  }
}

/** The fields of a record or job event that its instance is read from. */
type InstanceSource = Pick<PipelineRecord, 'project'> &
  Partial<Pick<PipelineRecord, 'url' | 'forge' | 'attempt' | 'attemptHasOwnId'> & Pick<JobEvent, 'runAttempt'>>

/**
 * Returns the instance that the ids of a record or job event are hashed with: the configured one, else the server that the
 * forge names, else the host of the project's URL, else the host of the pipeline's URL, else the project's id or path, else ''.
 * Those of other forges than GitLab contain the forge, and those of a later attempt its number.
 */
export function recordInstance(source: InstanceSource, options: Pick<ConvertOptions, 'instanceId'>): string {
  const attempt = source.attemptHasOwnId ? undefined : (source.attempt ?? source.runAttempt)
  return forgeInstance(source.forge, serverInstance(source, options), attempt)
}

const serverInstance = ({ project, url }: InstanceSource, { instanceId }: Pick<ConvertOptions, 'instanceId'>): string =>
  instanceId ?? project.server ?? (getInstance(project.webUrl ?? url) || projectInstance(project))

/** Returns the instance of the upstream pipeline of a record. */
export function upstreamInstance(
  upstream: UpstreamPipeline,
  record: InstanceSource,
  options: Pick<ConvertOptions, 'instanceId'>,
): string {
  const server = options.instanceId ?? record.project.server
  return forgeInstance(
    record.forge,
    server ?? upstreamServer(upstream, serverInstance(record, options)),
    upstream.attempt,
  )
}

/** `instance` is that of the downstream pipeline. */
function upstreamServer(upstream: UpstreamPipeline, instance: string): string {
  const host = getInstance(upstream.projectWebUrl)
  if (host !== '' || !upstream.otherProject || !instance.startsWith(projectInstancePrefix)) return host || instance
  return projectInstance({ id: upstream.projectId, path: upstream.projectPath }) || instance
}

/** Returns the jobs that made the pipeline fail. Attempts that were retried do not count. */
export function failedJobs(record: PipelineRecord): JobRecord[] {
  return record.jobs.filter((job) => job.status === 'failed' && !job.allowFailure && job.effective)
}

/** Returns the root pipeline of the trace. It is not resolved if only the direct parent is known. */
function traceRoot(record: PipelineRecord, options: ConvertOptions): { id: RunId; resolved: boolean } {
  const upstream = joinedUpstream(record, options)
  if (upstream?.otherProject) {
    // The source may name a root in this project. It is ignored, because this pipeline joins another project's trace.
    return { id: upstreamRootId(upstream), resolved: upstream.rootPipelineId !== undefined }
  }
  if (record.rootPipelineId !== undefined) return { id: record.rootPipelineId, resolved: true }
  const parentId = upstream?.pipelineId
  return parentId === undefined ? { id: record.id, resolved: !isChild(record) } : { id: parentId, resolved: false }
}

/**
 * Returns the instance of the trace. If the pipeline is part of another project's trace, this is the instance of that
 * project.
 */
function traceInstance(record: PipelineRecord, options: ConvertOptions): string {
  const instance = serverInstance(record, options)
  const upstream = joinedUpstream(record, options)
  const isForeign = upstream?.otherProject && instance.startsWith(projectInstancePrefix)
  return isForeign
    ? upstreamInstance(upstream, record, options)
    : forgeInstance(record.forge, instance, upstream?.attempt)
}

/** Returns the root of the upstream pipeline's tree, or the upstream pipeline itself if its root is unknown. */
export const upstreamRootId = (upstream: UpstreamPipeline): RunId => upstream.rootPipelineId ?? upstream.pipelineId

/** Returns the upstream pipeline that this one shares a trace with; `undefined` if it has its own trace. */
export function joinedUpstream(record: PipelineRecord, options: ConvertOptions) {
  const { upstream } = record
  if (upstream === undefined || upstream.pipelineId === record.id) return undefined
  if (!upstream.otherProject) return upstream
  const isKnown = upstream.standing === undefined || upstream.standing === 'recorded'
  return isKnown && options.multiProject !== 'link' ? upstream : undefined
}

function pipelineErrorType(record: PipelineRecord): string | undefined {
  if (record.status !== 'failed') return undefined
  if (record.failureReason !== undefined) return record.failureReason
  const [first, ...others] = failedJobs(record)
  if (first === undefined) return OTHER_ERROR
  const earliest = others.reduce((a, b) => (finishOf(b) < finishOf(a) ? b : a), first)
  return earliest.failureReason ?? OTHER_ERROR
}

/** Unknown finish times sort last. */
const finishOf = (job: JobRecord): bigint => job.finishedAtNs ?? 2n ** 64n

function resultOf(status: string, errorType: string | undefined, options: ConvertOptions): string | undefined {
  const refined =
    options.refinedResults && errorType !== undefined ? findEntry(refinedResultByReason, errorType) : undefined
  return refined ?? findEntry(resultByStatus, status)
}

/** Trigger types that occur only for branches. */
const mergeRequestSources: ReadonlySet<string> = new Set(['merge_request_event', 'external_pull_request_event'])

function refTypeOf(record: PipelineRecord): 'tag' | 'branch' | undefined {
  if (record.tag !== undefined) return record.tag ? 'tag' : 'branch'
  return record.mergeRequest !== undefined || mergeRequestSources.has(record.source ?? '') ? 'branch' : undefined
}

function exportedJobs(record: PipelineRecord, times: SpanTimes, options: ConvertOptions): readonly JobRecord[] {
  const sent = record.previousExport?.jobIds
  if (sent === undefined && !options.skipNeverRan) return record.jobs
  return record.jobs.filter((job) => !sent?.has(job.id) && (!options.skipNeverRan || jobTimes(job, times).executed))
}

const sameUser = (a: UserRecord | undefined, b: UserRecord | undefined): boolean =>
  a?.id === b?.id && a?.username === b?.username

function maskedUser(user: UserRecord | undefined, instance: string, options: ConvertOptions): UserRecord | undefined {
  if (user === undefined || options.user === 'include') return user
  if (options.user === 'omit') return undefined
  return {
    // The attribute is a signed 64-bit integer, so one bit of the hash is dropped.
    id: integerId(user.id) && BigInt(`0x${pseudonym(instance, 'id', String(user.id))}`) >> 1n,
    username: user.username === undefined ? undefined : pseudonym(instance, 'username', user.username),
  }
}
