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
} from '../body/fields.ts'
import { projectUrl, url } from '../body/url.ts'
import type { JobEvent } from '../record/job-event.ts'
import type { ProjectRecord } from '../record/pipeline-record.ts'
import { isFinished } from '../record/status.ts'
import { readEnvironment, readFailureReason, readProject, readRunner, readStatus, readUser } from './common-shapes.ts'
import { readUpstream } from './upstream.ts'

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
