import type { TraceSummary } from '../../api/traces.ts'
import { runName } from '../pipelines/run-words.ts'

/** Returns the name of a trace: for a pipeline its project and number, else the name of its first span. */
export function traceName({ trace_id, root, run }: Pick<TraceSummary, 'trace_id' | 'root' | 'run'>): string {
  if (run !== null) return runName({ ...run, trace_id })
  return root === null ? trace_id.slice(0, 16) : root.name || '(no name)'
}

/**
 * Returns the number of errors of a trace. A failed job is one error, although the spans of its stage and its pipeline fail with it; a
 * pipeline that failed without a failed job is one too.
 */
export function traceErrors({ errors, run }: Pick<TraceSummary, 'errors' | 'run'>): number {
  if (run === null) return errors
  return run.jobs_failed === 0 && run.status === 'failed' ? 1 : run.jobs_failed
}
