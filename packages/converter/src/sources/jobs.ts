import type { DownstreamPipeline, JobRecord, ProjectRecord } from '../record.ts'
import { readArtifacts, readEnvironment, readFailureReason, readRunner, readStatus, readUser } from './common-shapes.ts'
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
} from './fields.ts'
import { jobUrl, projectUrlIn, url } from './web-url.ts'

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

/**
 * Returns jobs and bridges in the form of a record: unique by id, in order of creation, with numbered attempts. The
 * order in `listed` does not affect the result.
 */
export function arrangeJobs(listed: readonly JobRecord[]): readonly JobRecord[] {
  return numberAttempts(uniqueById(listed).sort(byCreation))
}

/** Compares jobs by creation time, then by id. Jobs without a creation time come last. */
function byCreation(one: JobRecord, other: JobRecord): number {
  const [a, b] = [one.createdAtNs, other.createdAtNs]
  if (a === b) return one.id < other.id ? -1 : 1
  if (a === undefined) return 1
  return b === undefined || a < b ? -1 : 1
}

function uniqueById(listed: readonly JobRecord[]): JobRecord[] {
  const jobs = new Map<bigint, JobRecord>()
  for (const job of listed) jobs.set(job.id, job)
  if (jobs.size === listed.length) return [...listed]
  for (const job of listed) jobs.set(job.id, betterOf(job, jobs.get(job.id)!))
  return [...jobs.values()]
}

/**
 * Returns which of two jobs with the same id to keep. It prefers a bridge, then the later end, then the higher attempt,
 * and finally the greater JSON text.
 */
function betterOf(one: JobRecord, other: JobRecord): JobRecord {
  if (one.bridge !== other.bridge) return one.bridge ? one : other
  const [endA, endB] = [one.finishedAtNs ?? 0n, other.finishedAtNs ?? 0n]
  if (endA !== endB) return endA > endB ? one : other
  const [attemptA, attemptB] = [one.attempt ?? 0, other.attempt ?? 0]
  if (attemptA !== attemptB) return attemptA > attemptB ? one : other
  return asText(one) >= asText(other) ? one : other
}

function asText(job: JobRecord): string {
  return JSON.stringify(job, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))
}

/**
 * Numbers the attempts of each job. Jobs with the same name, stage and kind are attempts of one job. The attempt with
 * the highest id is the effective one.
 */
function numberAttempts(jobs: readonly JobRecord[]): readonly JobRecord[] {
  const numbered = new Map<bigint, JobRecord>()
  for (const attempts of groupAttempts(jobs)) {
    if (attempts.length === 1) continue
    attempts.sort((a, b) => (a.id < b.id ? -1 : 1))
    let before = 0
    for (const [index, job] of attempts.entries()) {
      const attempt = job.attempt ?? before + 1
      before = attempt
      numbered.set(job.id, {
        ...job,
        attempt,
        previousAttemptId: attempts[index - 1]?.id,
        effective: index === attempts.length - 1,
      })
    }
  }
  return numbered.size === 0 ? jobs : jobs.map((job) => numbered.get(job.id) ?? job)
}

function groupAttempts(jobs: readonly JobRecord[]): Iterable<JobRecord[]> {
  if (new Set(jobs.map((job) => job.name)).size === jobs.length) return [] // usually every name is unique
  const groups = new Map<string, JobRecord[]>()
  for (const job of jobs) {
    if (job.name === undefined) continue
    const key = `${job.bridge} ${job.stage?.length ?? 0} ${job.stage ?? ''} ${job.name}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [job])
    else group.push(job)
  }
  return groups.values()
}
