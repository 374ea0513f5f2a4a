import type { JobRecord, PipelineRecord } from '../record/pipeline-record.ts'
import type { JobLog } from './job-log.ts'

/** Returns the record with what the logs of its jobs contain. The keys are the ids of the jobs as texts. */
export function withJobLogs(record: PipelineRecord, logs: ReadonlyMap<string, JobLog>): PipelineRecord {
  if (!record.jobs.some((job) => logs.has(String(job.id)))) return record
  return { ...record, jobs: record.jobs.map((job) => withJobLog(job, logs.get(String(job.id)))) }
}

/** The sections of a log are the steps of its job, unless the forge lists them. Only a failed job has failing lines. */
function withJobLog(job: JobRecord, log: JobLog | undefined): JobRecord {
  if (log === undefined) return job
  const steps = job.steps ?? (log.sections.length === 0 ? undefined : log.sections)
  return { ...job, steps, failure: job.status === 'failed' ? log.failure : undefined }
}
