import { DAY_MS } from '../../base/kit/day.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Pipeline } from '../../ci/pipelines/pipeline.ts'
import { resultBefore } from '../../ci/pipelines/pipeline-store.ts'
import type { NotificationEvent } from './notification-policy.ts'

/** Pipelines that finished longer ago, such as those of a backfill, have no event. */
const MAX_AGE_MS = DAY_MS

/**
 * Returns the event of a pipeline with a new status; `undefined` if it is not finished, or finished long ago. A success
 * is a fix if the pipeline itself, or the newest earlier one of the ref that succeeded or failed, had failed.
 */
export async function finishedPipelineEvent(
  context: ReadContext,
  pipeline: Pick<Pipeline, 'projectId' | 'id' | 'ref' | 'status' | 'finishedAtMs'>,
  formerStatus: unknown,
): Promise<NotificationEvent | undefined> {
  const { status, finishedAtMs } = pipeline
  if (finishedAtMs !== undefined && finishedAtMs < context.nowMs - MAX_AGE_MS) return undefined
  if (status === 'failed') return 'failedPipeline'
  if (status !== 'success') return undefined
  if (formerStatus === 'failed') return 'fixedPipeline'
  const last = await resultBefore(context, pipeline)
  return last === 'failed' ? 'fixedPipeline' : 'successPipeline'
}
