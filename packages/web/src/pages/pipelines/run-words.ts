import type { PipelineRun } from '../../api/answers.ts'
import { runNumber } from '../../components/run-number.ts'

type NamedRun = Pick<PipelineRun, 'project' | 'name' | 'pipeline_id' | 'trace_id'> &
  Partial<Pick<PipelineRun, 'pipeline_iid'>>

/** Returns the short name of a run: `storefront #132`, or the name of its pipeline if it has no number. */
export function runName(run: NamedRun): string {
  const project = run.project?.split('/').at(-1) ?? run.name
  const number = runNumber(run.pipeline_id, run.pipeline_iid ?? null)
  if (project == null) return number === null ? run.trace_id.slice(0, 8) : `#${number}`
  return number === null ? project : `${project} #${number}`
}

/** Returns the address of a run's trace. A child run is selected in the trace of its parent. */
export function runAddress(run: Pick<PipelineRun, 'trace_id' | 'span_id' | 'is_child'>): string {
  const path = `/traces/${encodeURIComponent(run.trace_id)}`
  return run.is_child ? `${path}?span=${encodeURIComponent(run.span_id)}` : path
}

const triggers: Readonly<Record<string, string>> = {
  merge_request_event: 'merge request',
  parent_pipeline: 'parent pipeline',
  external_pull_request_event: 'pull request',
}

/** Returns what started a run, in words. */
export function triggerText(trigger: string | null): string {
  if (trigger === null) return '–'
  return triggers[trigger] ?? trigger.replaceAll('_', ' ')
}

/** Returns the sentence that sums up the runs of the page. */
export function summaryText(
  runs: readonly Pick<PipelineRun, 'status'>[],
  hasMore: boolean,
  newest: string | undefined,
): string {
  if (runs.length === 0) return 'No runs'
  const failed = runs.filter((run) => run.status === 'failed').length
  const count = hasMore ? `The latest ${runs.length} runs` : `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}`
  return [count, `${failed} failed`, ...(newest === undefined ? [] : [`newest ${newest}`])].join(', ')
}

/** Returns the runs of the first page, reloaded, before the older ones that were loaded already. */
export function mergeRuns(fresh: readonly PipelineRun[], shown: readonly PipelineRun[]): readonly PipelineRun[] {
  const oldest = fresh.at(-1)
  if (oldest === undefined) return shown
  const known = new Set(fresh.map(runKey))
  const older = shown.filter((run) => !known.has(runKey(run)) && BigInt(run.start_ns) <= BigInt(oldest.start_ns))
  return [...fresh, ...older]
}

/** Returns the identity of a run. */
export function runKey(run: Pick<PipelineRun, 'trace_id' | 'span_id'>): string {
  return `${run.trace_id}/${run.span_id}`
}
