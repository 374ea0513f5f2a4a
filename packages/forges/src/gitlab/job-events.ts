import { absentJobFields } from '../record/absent-fields.ts'
import { arrangeJobs, sortJobs, withReplacedAttempts } from '../record/arrange-jobs.ts'
import type { JobEvent } from '../record/job-event.ts'
import type { JobRecord, PipelineRecord } from '../record/pipeline-record.ts'
import { compareRunIds, type RunId } from '../record/run-id.ts'
import { isFinished } from '../record/status.ts'
import { toEventFields } from '../record/to-job-event.ts'
import { withoutQueue } from '../record/uncounted-attempts.ts'
import { jobUrl } from './web-url.ts'

/** The fields of a job hook that complete the record of its pipeline. */
export type JobEnrichment = Omit<
  JobEvent,
  'rootPipelineId' | 'upstream' | 'project' | 'receivedAtNs' | 'status' | 'allowFailure'
> & {
  /** `undefined` for enrichments that earlier versions stored; these add no attempt. */
  readonly status: string | undefined
  readonly allowFailure: boolean | undefined
}

/**
 * Merges two hooks of one job. The values of the later one are used, and missing ones are taken from the earlier one. If only
 * the earlier hook is about the end of the job, it is the other way round, because hooks may arrive in any order.
 */
export function mergedJobEvents<Event extends JobEnrichment>(earlier: Event, later: Event): Event {
  const isLaterStale = isFinished(earlier.status ?? '') && !isFinished(later.status ?? '')
  const [base, other] = isLaterStale ? [earlier, later] : [later, earlier]
  return {
    ...base,
    status: base.status ?? other.status,
    name: base.name ?? other.name,
    stage: base.stage ?? other.stage,
    createdAtNs: base.createdAtNs ?? other.createdAtNs,
    startedAtNs: base.startedAtNs ?? other.startedAtNs,
    finishedAtNs: base.finishedAtNs ?? other.finishedAtNs,
    durationSeconds: base.durationSeconds ?? other.durationSeconds,
    queuedSeconds: base.queuedSeconds ?? other.queuedSeconds,
    allowFailure: base.allowFailure ?? other.allowFailure,
    user: base.user ?? other.user,
    retriesCount: base.retriesCount ?? other.retriesCount,
    failureReason: base.failureReason ?? other.failureReason,
    runner: base.runner ?? other.runner,
    environment: base.environment ?? other.environment,
    job: base.job ?? other.job,
  }
}

/**
 * Returns the attempts that a record of an unfinished pipeline lists. A later record may not list them any more, because they
 * were retried. Their numbers are left out: they were counted within this record.
 */
export function attemptsListedBy({ id, jobs, jobsUnreadable }: PipelineRecord): JobEnrichment[] {
  if (jobsUnreadable) return []
  return jobs.flatMap((job) => (job.bridge ? [] : [{ ...toEventFields(job), pipelineId: id, retriesCount: undefined }]))
}

/**
 * Returns the record with what job hooks add: missing attempt numbers, runners, environments and failure reasons, and the
 * attempts that the record does not list because they were retried. `events` may also come from `attemptsListedBy`. They are in
 * order of arrival; events of other pipelines are ignored.
 */
export function withJobEvents(record: PipelineRecord, events: readonly JobEnrichment[]): PipelineRecord {
  const eventByJob = new Map<RunId, JobEnrichment>()
  for (const event of events) {
    if (event.pipelineId !== record.id) continue
    const earlier = eventByJob.get(event.jobId)
    eventByJob.set(event.jobId, earlier === undefined ? event : mergedJobEvents(earlier, event))
  }
  if (eventByJob.size === 0) return record
  const hooked = [...eventByJob.values()].flatMap(({ job }) => job ?? [])
  if (hooked.length > 0) return withHookedJobs(record, hooked)
  const jobs = record.jobs.map((job) => enriched(job, eventByJob.get(job.id)))
  const added = attemptsBefore(record, [...eventByJob.values()])
  return { ...record, jobs: added.length === 0 ? jobs : arrangeJobs([...jobs, ...added]) }
}

/** Returns the record with the jobs of its job hooks. */
function withHookedJobs(record: PipelineRecord, hooked: readonly JobRecord[]): PipelineRecord {
  const listed = new Set(record.jobs.map(({ id }) => id))
  const isLater = record.attemptsUncounted && record.attempt !== undefined
  const added = hooked.filter(({ id }) => !listed.has(id)).map((job) => (isLater ? withoutQueue(job) : job))
  const jobs = withReplacedAttempts(sortJobs([...record.jobs, ...added]))
  return { ...record, jobs, jobsUnknown: undefined }
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

/**
 * Returns the attempts that only job hooks name. Attempts that began after the state in the record are left out: its
 * status and times do not include them.
 */
function attemptsBefore(record: PipelineRecord, events: readonly JobEnrichment[]): JobRecord[] {
  const latestIds = new Map<string, RunId>()
  const listedIds = new Set<RunId>()
  for (const job of record.jobs) {
    listedIds.add(job.id)
    if (job.bridge) continue
    const key = jobKey(job)
    const latest = latestIds.get(key)
    if (latest === undefined || compareRunIds(job.id, latest) > 0) latestIds.set(key, job.id)
  }
  return events.flatMap((event) => {
    const { jobId, status } = event
    if (status === undefined || listedIds.has(jobId)) return []
    const latest = latestIds.get(jobKey(event))
    const isLater =
      latest === undefined ? isAfter(event.createdAtNs, record.finishedAtNs) : compareRunIds(jobId, latest) > 0
    return isLater ? [] : [toJob(event, status, record)]
  })
}

const jobKey = ({ name, stage }: { readonly name: string | undefined; readonly stage: string | undefined }): string =>
  JSON.stringify([name, stage])

const isAfter = (one: bigint | undefined, other: bigint | undefined): boolean =>
  one !== undefined && other !== undefined && one > other

function toJob(event: JobEnrichment, status: string, { project }: PipelineRecord): JobRecord {
  const { jobId, retriesCount } = event
  return {
    ...absentJobFields,
    id: jobId,
    bridge: false,
    name: event.name,
    stage: event.stage,
    status,
    createdAtNs: event.createdAtNs,
    startedAtNs: event.startedAtNs,
    finishedAtNs: event.finishedAtNs,
    durationSeconds: event.durationSeconds,
    queuedSeconds: event.queuedSeconds,
    failureReason: status === 'failed' ? event.failureReason : undefined,
    allowFailure: event.allowFailure ?? false,
    url: jobUrl(project.webUrl, jobId),
    user: event.user,
    runner: event.runner,
    environment: event.environment,
    attempt: retriesCount === undefined ? undefined : retriesCount + 1,
    effective: true,
  }
}
