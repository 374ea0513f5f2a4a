import {
  count,
  date,
  type Fields,
  flag,
  quoted,
  requiredRunId,
  requiredSection,
  requiredText,
  runId,
  section,
  sections,
  text,
} from '../body/fields.ts'
import { lastSegment, repositoryPath, repositoryUrl, url } from '../body/url.ts'
import { userName } from '../body/user-name.ts'
import { absentMergeRequestFields, absentRunFields } from '../record/absent-fields.ts'
import { secondsBetween } from '../record/durations.ts'
import type { JobEvent } from '../record/job-event.ts'
import type {
  MergeRequestRecord,
  PipelineRecord,
  ProjectRecord,
  UpstreamPipeline,
  UserRecord,
} from '../record/pipeline-record.ts'
import { OtherHookError } from '../record/record-error.ts'
import { toCommit, toUser } from '../record/run-origin.ts'
import { toJobEvent } from '../record/to-job-event.ts'
import { isWaiting, readJob, readJobs } from './job.ts'
import { buildkiteStatus } from './status-words.ts'

const FORGE = 'buildkite'
/** The server that ids of Buildkite are unique on: they are UUIDs. */
const SERVER = 'buildkite.com'

/** Reads `build.finished`. Its build rarely lists the jobs; with an empty list, their number is unknown. */
export function readBuildHook(hook: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  const build = requiredSection(hook, 'build')
  const run = readRun(build, section(hook, 'pipeline'), receivedAtNs)
  const listed = sections(build, 'jobs') ?? []
  return listed.length === 0 ? { ...run, jobs: [], jobsUnknown: true } : { ...run, jobs: readJobs(listed) }
}

/** Reads a build of the REST API with its jobs. */
export function readBuild(build: Fields, receivedAtNs: bigint | undefined): PipelineRecord {
  return { ...readRun(build, section(build, 'pipeline'), receivedAtNs), jobs: readJobs(sections(build, 'jobs') ?? []) }
}

/**
 * Reads `job.finished`.
 *
 * @throws {OtherHookError} for waits and blocks, which are not jobs of a record
 */
export function readJobHook(hook: Fields, receivedAtNs: bigint | undefined): JobEvent {
  const job = requiredSection(hook, 'job')
  if (isWaiting(job)) throw new OtherHookError('job.type', quoted(text(job, 'type') ?? ''), 'script or trigger')
  const build = requiredSection(hook, 'build')
  const pipeline = section(hook, 'pipeline') ?? section(build, 'pipeline')
  const source = section(job, 'retry_source')
  const record = { ...readJob(job), previousAttemptId: source && runId(source, 'job_id') }
  return toJobEvent(record, {
    forge: FORGE,
    pipelineId: requiredRunId(build, 'id'),
    project: readProject(pipeline),
    receivedAtNs,
  })
}

function readRun(
  build: Fields,
  pipeline: Fields | undefined,
  receivedAtNs: bigint | undefined,
): Omit<PipelineRecord, 'jobs'> {
  const number = count(build, 'number')
  const tag = text(build, 'tag')
  const ref = tag ?? text(build, 'branch')
  const sha = readSha(build)
  const createdAtNs = date(build, 'created_at')
  const startedAtNs = date(build, 'started_at')
  const rebuilt = section(build, 'rebuilt_from')
  const previousId = rebuilt && runId(rebuilt, 'id')
  return {
    ...absentRunFields,
    forge: FORGE,
    id: requiredRunId(build, 'id'),
    previousAttempt: previousId === undefined ? undefined : { runId: previousId },
    iid: number === undefined ? undefined : BigInt(number),
    name: pipeline && text(pipeline, 'name'),
    // A build that waits for a person is sent as finished and resumes later.
    status: flag(build, 'blocked') === true ? 'manual' : buildkiteStatus(requiredText(build, 'state')),
    ref,
    tag: ref === undefined ? undefined : tag !== undefined,
    sha,
    source: text(build, 'source'),
    createdAtNs,
    startedAtNs,
    finishedAtNs: date(build, 'finished_at'),
    queuedSeconds: secondsBetween(createdAtNs, startedAtNs),
    url: url(build, 'web_url'),
    upstream: readUpstream(build),
    mergeRequest: readMergeRequest(build),
    user: readUser(build),
    commit: toCommit(sha, text(build, 'message')),
    project: readProject(pipeline),
    bridgesListed: true,
    receivedAtNs,
  }
}

/** Reads the commit. A build that was started by hand names `HEAD` until it has found the commit. */
function readSha(build: Fields): string | undefined {
  const commit = text(build, 'commit')
  return commit !== undefined && /^[\da-f]{7,64}$/i.test(commit) ? commit : undefined
}

function readProject(pipeline: Fields | undefined): ProjectRecord {
  const webUrl = repositoryUrl(pipeline && text(pipeline, 'repository'))
  const path = repositoryPath(webUrl)
  return {
    id: pipeline && runId(pipeline, 'id'),
    name: path === undefined ? pipeline && text(pipeline, 'slug') : lastSegment(path),
    webUrl,
    path,
    server: SERVER,
  }
}

/** Reads the build that started this one with a trigger. Only the other build contains the id of the trigger. */
function readUpstream(build: Fields): UpstreamPipeline | undefined {
  const from = section(build, 'triggered_from')
  const pipelineId = from && runId(from, 'build_id')
  if (pipelineId === undefined) return undefined
  return { pipelineId, bridgeId: undefined, otherProject: false, projectWebUrl: undefined }
}

function readMergeRequest(build: Fields): MergeRequestRecord | undefined {
  const request = section(build, 'pull_request')
  const iid = request && runId(request, 'id')
  if (request === undefined || typeof iid !== 'bigint') return undefined
  return { ...absentMergeRequestFields, iid, targetBranch: text(request, 'base') }
}

function readUser(build: Fields): UserRecord | undefined {
  const creator = section(build, 'creator')
  return creator && toUser(runId(creator, 'id'), userName(creator, 'name'))
}
