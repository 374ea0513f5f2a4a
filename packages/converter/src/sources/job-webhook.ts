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
 * What a job hook adds to its pipeline: how often the job was retried, its runner, and early news of the upstream
 * pipeline. It never triggers an export.
 *
 * @see spec/pipeline-telemetry.md 1.2
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
  /** Only kept when the status is failed: the hook says `unknown_failure` on success too. */
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

/** What of a job hook goes into the record of its pipeline. */
export type JobEnrichment = Pick<
  JobEvent,
  'pipelineId' | 'jobId' | 'failureReason' | 'retriesCount' | 'runner' | 'environment'
>

/** Two hooks of one job as one: what the later one does not say, the earlier one does. */
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
 * The record with what job hooks, in order of arrival, know and it does not: attempt, runner, environment, failure
 * reason. Events of other pipelines are ignored.
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
