import { count, date, type Fields, requiredRunId, requiredText, text } from '../body/fields.ts'
import { absentJobFields } from '../record/absent-fields.ts'
import type { JobRecord } from '../record/pipeline-record.ts'
import { circleciFailureReason, circleciStatus } from './status-words.ts'

/** Reads a job of a hook or of the REST API. An approval is a job without a number, which waits for a person. */
export function readJob(job: Fields, workflowUrl: string | undefined): JobRecord {
  const word = requiredText(job, 'status')
  const number = count(job, 'number') ?? count(job, 'job_number')
  const isApproval = text(job, 'type') === 'approval'
  return {
    ...absentJobFields,
    id: requiredRunId(job, 'id'),
    bridge: false,
    name: text(job, 'name'),
    status: circleciStatus(word),
    startedAtNs: date(job, 'started_at'),
    finishedAtNs: date(job, 'stopped_at'),
    failureReason: circleciFailureReason(word),
    manual: isApproval ? true : undefined,
    allowFailure: false,
    url: workflowUrl === undefined || number === undefined ? undefined : `${workflowUrl}/jobs/${number}`,
    effective: true,
  }
}
