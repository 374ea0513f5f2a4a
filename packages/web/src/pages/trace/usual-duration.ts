import type { Comparison } from '../../api/answers.ts'
import { toValueText } from '../../api/otlp-json.ts'
import { shortName } from './trace-text.ts'
import type { TraceNode } from './trace-tree.ts'

/** How long a job usually takes: its median over the last successful runs of the same kind before it. */
export interface UsualDuration {
  readonly seconds: number
  readonly runs: number
  /** How much longer the span took; negative if it took less, 0 for about as long, `undefined` if it has not ended or did not run. */
  readonly longerSeconds: number | undefined
}

/** Durations are about the same if they differ by less than both, as on the page Compare. */
const SAME_SECONDS = 1
const SAME_SHARE = 0.05

/**
 * Returns whether a usual duration can be known for a span: for the root pipeline of the trace and its jobs, because runs are compared
 * without their child pipelines.
 */
export function hasUsualDuration({ span, parent }: TraceNode): boolean {
  if (span.kind === 'pipeline') return parent === undefined
  if (span.kind !== 'job' && span.kind !== 'bridge') return false
  for (let above = parent; above !== undefined; above = above.parent) {
    if (above.span.kind === 'pipeline') return above.parent === undefined
  }
  return false
}

/** Returns the usual duration of a span of the root pipeline, from its comparison with the median; `undefined` if no run has it. */
export function usualDuration({ b, jobs }: Comparison, node: TraceNode): UsualDuration | undefined {
  if (!('kind' in b)) return undefined
  const { span } = node
  const name = jobName(node)
  const seconds =
    span.kind === 'pipeline'
      ? b.duration_seconds
      : jobs.find((job) => job.name === name && (job.stage ?? undefined) === span.stage)?.b_seconds
  if (seconds == null) return undefined
  const hasEnded = span.executed && span.status !== 'running' && span.status !== 'queued'
  const longer = (span.endNs - span.startNs) / 1e9 - seconds
  const isSame = Math.abs(longer) < Math.max(SAME_SECONDS, SAME_SHARE * seconds)
  return { seconds, runs: b.runs, longerSeconds: hasEnded ? (isSame ? 0 : longer) : undefined }
}

/** Returns the name by which runs are compared: the attribute of the job, else the name of its span. */
function jobName({ span }: TraceNode): string {
  const attribute = (key: string) => toValueText(span.wire.attributes?.find((each) => each.key === key)?.value)
  return attribute('cicd.pipeline.task.name') || attribute('job.name') || shortName(span)
}
