import type {
  EnvironmentRecord,
  JobRecord,
  PipelineRecord,
  ProjectRecord,
  RunnerRecord,
  UpstreamPipeline,
} from '../record.ts'
import { readEnvironment, readFailureReason, readProject, readRunner, readStatus } from './common-shapes.ts'
import { count, type Fields, id, requiredId, section, text } from './fields.ts'
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
  const pipelineId = requiredId(hook, 'pipeline_id')
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

/**
 * The record with what job hooks know and it does not: attempt, runner, environment, failure reason. Of several events
 * for one job the last that knows counts; events of other pipelines are ignored.
 */
export function withJobEvents(record: PipelineRecord, events: readonly JobEvent[]): PipelineRecord {
  const eventsByJob = new Map<bigint, JobEvent[]>()
  for (const event of events) {
    if (event.pipelineId !== record.id) continue
    const earlier = eventsByJob.get(event.jobId)
    if (earlier === undefined) eventsByJob.set(event.jobId, [event])
    else earlier.unshift(event)
  }
  if (eventsByJob.size === 0) return record
  return { ...record, jobs: record.jobs.map((job) => enriched(job, eventsByJob.get(job.id))) }
}

function enriched(job: JobRecord, newestFirst: readonly JobEvent[] | undefined): JobRecord {
  if (newestFirst === undefined) return job
  const retriesCount = newestFirst.find((event) => event.retriesCount !== undefined)?.retriesCount
  const failureReason = newestFirst.find((event) => event.failureReason !== undefined)?.failureReason
  return {
    ...job,
    failureReason: job.failureReason ?? (job.status === 'failed' ? failureReason : undefined),
    runner: job.runner ?? newestFirst.find((event) => event.runner !== undefined)?.runner,
    environment: job.environment ?? newestFirst.find((event) => event.environment !== undefined)?.environment,
    attempt: retriesCount === undefined ? job.attempt : retriesCount + 1,
  }
}
