import type {
  EnvironmentRecord,
  JobRecord,
  PipelineRecord,
  ProjectRecord,
  RunnerRecord,
  UpstreamPipeline,
} from '../record.ts'
import { readEnvironment, readFailureReason, readProject, readRunner, readStatus } from './common-shapes.ts'
import { count, type Fields, id, isObject, requiredId, requiredSection, section, text } from './fields.ts'
import { readUpstream } from './upstream.ts'
import { projectUrl, url } from './web-url.ts'

/**
 * The contents of a job hook. It completes the record of its pipeline with the number of retries and the runner, and
 * names the upstream pipeline before the pipeline has finished. It never triggers an export.
 */
export interface JobEvent {
  readonly pipelineId: bigint
  readonly rootPipelineId: bigint | undefined
  readonly upstream: UpstreamPipeline | undefined
  readonly project: ProjectRecord
  readonly jobId: bigint
  readonly name: string | undefined
  readonly stage: string | undefined
  readonly status: string
  /** Set only if the status is `failed`: on success, hooks contain `unknown_failure`. */
  readonly failureReason: string | undefined
  readonly retriesCount: number | undefined
  readonly runner: RunnerRecord | undefined
  readonly environment: EnvironmentRecord | undefined
  readonly receivedAtNs: bigint | undefined
}

export function readJobWebhook(hook: Fields, receivedAtNs: bigint | undefined): JobEvent {
  const jobId = requiredId(hook, 'build_id')
  const status = readStatus(hook, 'build_status')
  const pipelineId = readPipelineId(hook)
  const project = readJobProject(hook)
  return {
    pipelineId,
    rootPipelineId: id(hook, 'root_pipeline_id'),
    upstream: readUpstream(hook, { pipelineId, project, source: undefined }),
    project,
    jobId,
    name: text(hook, 'build_name'),
    stage: text(hook, 'build_stage'),
    status,
    failureReason: readFailureReason(hook, 'build_failure_reason', status),
    retriesCount: count(hook, 'retries_count'),
    runner: readRunner(hook),
    environment: readEnvironment(hook),
    receivedAtNs,
  }
}

/** Reads the pipeline's id. In versions without `pipeline_id`, only `commit.id` of the hook contains it. */
function readPipelineId(hook: Fields): bigint {
  const { pipeline_id: given, commit } = hook.values
  const isOld = (given === undefined || given === null) && isObject(commit) && isIdLike(commit.id)
  return isOld ? requiredId(requiredSection(hook, 'commit'), 'id') : requiredId(hook, 'pipeline_id')
}

/** Tells whether the value looks like an id: some relays put the commit's SHA there. */
const isIdLike = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'bigint' || (typeof value === 'string' && /^\d{1,19}$/.test(value))

/** Old job hooks have no `project`. `project_name` is no substitute for its path: it is a spaced display name. */
function readJobProject(hook: Fields): ProjectRecord {
  const project = readProject(section(hook, 'project'), undefined)
  const repository = section(hook, 'repository')
  return {
    id: project.id ?? id(hook, 'project_id'),
    name: project.name,
    webUrl: project.webUrl ?? projectUrl(repository && url(repository, 'homepage')),
    path: project.path,
  }
}

/** The fields of a job hook that complete the record of its pipeline. */
export type JobEnrichment = Pick<
  JobEvent,
  'pipelineId' | 'jobId' | 'failureReason' | 'retriesCount' | 'runner' | 'environment'
>

/** Merges two hooks of one job. A value that is missing in the later hook is taken from the earlier one. */
export function mergedJobEvents<Event extends JobEnrichment>(earlier: Event, later: Event): Event {
  return {
    ...later,
    retriesCount: later.retriesCount ?? earlier.retriesCount,
    failureReason: later.failureReason ?? earlier.failureReason,
    runner: later.runner ?? earlier.runner,
    environment: later.environment ?? earlier.environment,
  }
}

/**
 * Returns the record with its missing attempts, runners, environments and failure reasons filled from job hooks.
 * `events` are in order of arrival; events of other pipelines are ignored.
 */
export function withJobEvents(record: PipelineRecord, events: readonly JobEnrichment[]): PipelineRecord {
  const eventByJob = new Map<bigint, JobEnrichment>()
  for (const event of events) {
    if (event.pipelineId !== record.id) continue
    const earlier = eventByJob.get(event.jobId)
    eventByJob.set(event.jobId, earlier === undefined ? event : mergedJobEvents(earlier, event))
  }
  if (eventByJob.size === 0) return record
  return { ...record, jobs: record.jobs.map((job) => enriched(job, eventByJob.get(job.id))) }
}

function enriched(job: JobRecord, event: JobEnrichment | undefined): JobRecord {
  if (event === undefined) return job
  return {
    ...job,
    failureReason: job.failureReason ?? (job.status === 'failed' ? event.failureReason : undefined),
    runner: job.runner ?? event.runner,
    environment: job.environment ?? event.environment,
    attempt: event.retriesCount === undefined ? job.attempt : event.retriesCount + 1,
  }
}
