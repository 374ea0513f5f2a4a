import type { JobEvent } from './job-event.ts'
import type { JobRecord } from './pipeline-record.ts'
import { isFinished } from './status.ts'

/** The run that the hook of a job names. */
type JobRun = Pick<JobEvent, 'forge' | 'pipelineId' | 'project' | 'receivedAtNs'> &
  Partial<Pick<JobEvent, 'runAttempt' | 'attemptsUncounted' | 'upstream'>>

/** Returns the event of a job hook, for forges with run hooks that list no jobs. The job is then a job of the record. */
export function toJobEvent(job: JobRecord, { upstream, ...run }: JobRun): JobEvent {
  return {
    ...run,
    ...toEventFields(job),
    job,
    rootPipelineId: undefined,
    upstream,
    retriesCount: job.attempt === undefined ? undefined : job.attempt - 1,
  }
}

/** Returns the fields of an event that a job has, too. */
export const toEventFields = (job: JobRecord) => ({
  jobId: job.id,
  name: job.name,
  stage: job.stage,
  status: job.status,
  createdAtNs: job.createdAtNs,
  startedAtNs: job.startedAtNs,
  finishedAtNs: job.finishedAtNs,
  durationSeconds: isFinished(job.status) ? job.durationSeconds : undefined,
  queuedSeconds: job.queuedSeconds,
  allowFailure: job.allowFailure,
  user: job.user,
  failureReason: job.failureReason,
  runner: job.runner,
  environment: job.environment,
})
