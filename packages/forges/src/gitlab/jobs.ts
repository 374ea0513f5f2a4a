import {
  count,
  date,
  type Fields,
  flag,
  percent,
  id as readId,
  requiredId,
  seconds,
  section,
  sections,
  text,
  texts,
} from '../body/fields.ts'
import { url } from '../body/url.ts'
import type { DownstreamPipeline, JobRecord, ProjectRecord } from '../record/pipeline-record.ts'
import { readArtifacts, readEnvironment, readFailureReason, readRunner, readStatus, readUser } from './common-shapes.ts'
import { jobUrl, projectUrlIn } from './web-url.ts'

/** Reads the jobs of one list; `undefined` if there is no list. Hooks and REST use the same field names. */
export function readJobs(
  owner: Fields,
  key: 'builds' | 'jobs' | 'bridges',
  project: ProjectRecord,
): readonly JobRecord[] | undefined {
  return sections(owner, key)?.map((job) => readJob(job, key === 'bridges', project))
}

/** Returns whether one of the job lists is present but is not a list. */
export function hasUnreadableJobs({ values }: Fields, keys: readonly ('builds' | 'jobs' | 'bridges')[]): boolean {
  return keys.some((key) => values[key] !== undefined && values[key] !== null && !Array.isArray(values[key]))
}

function readJob(job: Fields, listedAsBridge: boolean, project: ProjectRecord): JobRecord {
  const id = requiredId(job, 'id')
  const status = readStatus(job, 'status')
  const retriesCount = count(job, 'retries_count')
  return {
    id,
    bridge: flag(job, 'bridge') === true || listedAsBridge,
    name: text(job, 'name'),
    stage: text(job, 'stage'),
    status,
    createdAtNs: date(job, 'created_at'),
    startedAtNs: date(job, 'started_at'),
    finishedAtNs: date(job, 'finished_at'),
    durationSeconds: seconds(job, 'duration'),
    queuedSeconds: seconds(job, 'queued_duration'),
    failureReason: readFailureReason(job, 'failure_reason', status),
    when: text(job, 'when'),
    manual: flag(job, 'manual'),
    allowFailure: flag(job, 'allow_failure') ?? false,
    url: url(job, 'web_url') ?? jobUrl(project.webUrl, id),
    user: readUser(job),
    runner: readRunner(job),
    artifacts: readArtifacts(job),
    environment: readEnvironment(job),
    coverage: percent(job, 'coverage'),
    requiredTags: requiredTagsOf(job),
    downstream: readDownstream(job),
    attempt: retriesCount === undefined ? undefined : retriesCount + 1,
    previousAttemptId: undefined,
    effective: true,
  }
}

/** Reads REST's `tag_list`; `undefined` if it is empty. */
function requiredTagsOf(job: Fields): readonly string[] | undefined {
  if (job.values.tag_list === undefined) return undefined
  const tags = texts(job, 'tag_list')
  return tags.length === 0 ? undefined : tags
}

/** Reads `downstream_pipeline` of a REST bridge. */
function readDownstream(job: Fields): DownstreamPipeline | undefined {
  const downstream = section(job, 'downstream_pipeline')
  const pipelineId = downstream && readId(downstream, 'id')
  if (downstream === undefined || pipelineId === undefined) return undefined
  return {
    pipelineId,
    projectId: readId(downstream, 'project_id'),
    projectWebUrl: projectUrlIn(url(downstream, 'web_url')),
  }
}
