import { DAY_MS } from '../kit/day.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { Pipeline } from '../pipelines/pipeline.ts'
import type { NotificationEvent } from './notification-policy.ts'

/** Pipelines that finished longer ago, such as those of a backfill, have no event. */
const MAX_AGE_MS = DAY_MS
/** The limit of earlier pipelines of the ref that are read. */
const MAX_EARLIER = 100

/**
 * Returns the event of a pipeline with a new status; `undefined` if it is not finished, or finished long ago. A success
 * is a fix if the pipeline itself, or the newest earlier one of the ref that succeeded or failed, had failed.
 */
export async function finishedPipelineEvent(
  context: ReadContext,
  { projectId, id, ref, status, finishedAtMs }: Pipeline,
  formerStatus: unknown,
): Promise<NotificationEvent | undefined> {
  if (finishedAtMs !== undefined && finishedAtMs < context.nowMs - MAX_AGE_MS) return undefined
  if (status === 'failed') return 'failedPipeline'
  if (status !== 'success') return undefined
  if (formerStatus === 'failed') return 'fixedPipeline'
  const earlier = await context.db
    .selectFrom('pipelines')
    .select('status')
    .where('project_id', '=', projectId)
    .where('ref', '=', ref ?? '')
    .where('pipeline_id', '<', id)
    .orderBy('pipeline_id', 'desc')
    .limit(MAX_EARLIER)
    .execute()
  const last = earlier.find(({ status: each }) => each === 'success' || each === 'failed')
  return last?.status === 'failed' ? 'fixedPipeline' : 'successPipeline'
}
