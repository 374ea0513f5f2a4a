import type { EnvironmentRecord, ProjectRecord, RunnerRecord, UpstreamPipeline, UserRecord } from '../record.ts'
import { readEnvironment, readFailureReason, readProject, readRunner, readStatus, readUser } from './common-shapes.ts'
import {
  count,
  date,
  type Fields,
  flag,
  id,
  isObject,
  requiredId,
  requiredSection,
  seconds,
  section,
  text,
} from './fields.ts'
import { isFinished } from './status.ts'
import { readUpstream } from './upstream.ts'
import { projectUrl, url } from './web-url.ts'

/**
 * The contents of a job hook. It completes the record of its pipeline with what the pipeline hook lacks: attempts that
 * were retried, the number of retries, the runner. It names the upstream pipeline before the pipeline has finished. It
 * never triggers an export.
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
  readonly createdAtNs: bigint | undefined
  readonly startedAtNs: bigint | undefined
  readonly finishedAtNs: bigint | undefined
  /** Set only for finished jobs: hooks of running jobs contain the time that has passed so far. */
  readonly durationSeconds: number | undefined
  readonly queuedSeconds: number | undefined
  readonly allowFailure: boolean
  readonly user: UserRecord | undefined
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
    createdAtNs: date(hook, 'build_created_at'),
    startedAtNs: date(hook, 'build_started_at'),
    finishedAtNs: date(hook, 'build_finished_at'),
    durationSeconds: isFinished(status) ? seconds(hook, 'build_duration') : undefined,
    queuedSeconds: seconds(hook, 'build_queued_duration'),
    allowFailure: flag(hook, 'build_allow_failure') ?? false,
    user: readUser(hook),
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

/** Returns whether the value looks like an id: some relays put the commit's SHA there. */
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
