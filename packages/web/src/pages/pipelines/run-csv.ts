import type { PipelineRun } from '../../api/answers.ts'
import { toSeconds } from '../../components/duration.ts'
import { toMilliseconds } from '../../components/time.ts'

/** The columns of the file with the runs that the page has loaded. */
export const csvHeaders: readonly string[] = [
  ...[
    'trace_id',
    'service',
    'forge',
    'project',
    'name',
    'pipeline_id',
    'status',
    'ref',
    'sha',
    'trigger',
    'user',
    'started',
  ],
  ...['duration_seconds', 'busy_seconds', 'queue_seconds', 'jobs', 'jobs_failed', 'failed_jobs'],
]

export const csvRow = (run: PipelineRun): readonly (string | number | null)[] => [
  ...[run.trace_id, run.service, run.forge, run.project, run.name, run.pipeline_id, run.status, run.ref, run.sha],
  ...[run.trigger, run.user, new Date(toMilliseconds(run.start_ns)).toISOString()],
  ...[toSeconds(run.duration_ns), run.busy_seconds, run.queue_seconds, run.jobs, run.jobs_failed],
  run.failed_jobs.join(' '),
]
