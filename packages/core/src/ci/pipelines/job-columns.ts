import type { Job } from './pipeline.ts'

/** The columns of a job row that are derived from its record. */
export interface JobColumns {
  readonly job_id: number
  readonly is_bridge: number
  readonly is_retried: number
  readonly status: string
  /** JSON of the fields that are only shown, never searched. */
  readonly details: string
}

export type JobDetails = Omit<Job, 'id' | 'isBridge' | 'isRetried' | 'status'>

export function jobColumnsOf({ id, isBridge, isRetried, status, ...details }: Job): JobColumns {
  return {
    job_id: id,
    is_bridge: Number(isBridge),
    is_retried: Number(isRetried),
    status,
    details: JSON.stringify(details satisfies JobDetails),
  }
}
