import { notFound } from '../../base/kit/domain-error.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import type { Tx } from '../../base/operations/context.ts'
import { claimGlobalNumbers, FIRST_ASSIGNED_NUMBER, FIRST_POSTED_ID } from './global-number-store.ts'
import { jobColumnsOf } from './job-columns.ts'
import { jobOf, jobQuery } from './job-store.ts'
import type { Job, Pipeline, RecordedJob } from './pipeline.ts'
import { newestOfEach, pipelineQuery } from './pipeline-store.ts'
import { openStates } from './posted-status.ts'

/** The values that identify a posted status. */
export interface StatusKey {
  readonly sha: string
  readonly ref: string | undefined
  readonly pipelineId: number | undefined
  readonly name: string
  readonly userId: number
}

export interface StoredStatus {
  readonly rowId: number
  readonly job: RecordedJob
}

/** The pipeline to which a status is posted. */
export interface PipelineOfStatus {
  readonly pipeline: Pipeline
  /** Whether the pipeline contains posted statuses only. */
  readonly isPosted: boolean
}

/**
 * Returns the pipeline of a commit to which a status belongs: the one in which the caller has posted a status of this name
 * that is not finished, else the newest recorded one, else the newest posted one.
 */
export async function findPipelineOfStatus(
  context: ReadContext,
  { id: projectId }: Project,
  { sha, ref, pipelineId, name, userId }: StatusKey,
): Promise<PipelineOfStatus | undefined> {
  const candidates = pipelineQuery(context, projectId, { sha, ref })
    .$if(pipelineId !== undefined, (query) => query.where('pipelines.pipeline_id', '=', pipelineId!))
    .orderBy('pipelines.pipeline_id', 'desc')
  const open = await jobQuery(context, { name, statuses: openStates, isRetried: false })
    .where('pipeline_jobs.is_posted', '=', 1)
    .where('pipeline_key', 'in', candidates.clearSelect().clearOrderBy().select('pipelines.id'))
    .orderBy('job_id', 'desc')
    .execute()
  const own = open.find((row) => jobOf(row).user?.id === userId)
  const [pipeline] = await newestOfEach(context, [
    own === undefined
      ? candidates.clearOrderBy()
      : candidates.clearOrderBy().where('pipelines.id', '=', own.pipeline_key),
  ])
  if (pipeline === undefined) return undefined
  const { is_posted } = await context.db
    .selectFrom('pipelines')
    .select('is_posted')
    .where('id', '=', pipeline.key)
    .executeTakeFirstOrThrow(() => notFound('Pipeline'))
  return { pipeline, isPosted: is_posted === 1 }
}

/** Returns the posted statuses of a pipeline in the order of their ids. */
export async function postedStatuses(context: ReadContext, pipelineKey: number): Promise<StoredStatus[]> {
  const rows = await jobQuery(context, {})
    .where('pipeline_key', '=', pipelineKey)
    .where('pipeline_jobs.is_posted', '=', 1)
    .orderBy('job_id')
    .execute()
  return rows.map((row) => ({ rowId: row.id, job: jobOf(row) }))
}

/** Returns whether a pipeline has a recorded job of this name. */
export async function hasRecordedJob(context: ReadContext, pipelineKey: number, name: string): Promise<boolean> {
  const query = jobQuery(context, { name }).where('pipeline_key', '=', pipelineKey)
  return (await query.where('pipeline_jobs.is_posted', '=', 0).limit(1).executeTakeFirst()) !== undefined
}

/**
 * Returns a new id for a pipeline or job of posted statuses, which is its Global ID too. These ids have a range of their own, so
 * that no record is likely to use one.
 */
export async function claimPostedId(
  tx: Tx,
  table: 'pipeline_numbers' | 'job_numbers',
  projectId: number,
): Promise<number> {
  const { last } = await tx.db
    .selectFrom(table)
    .select(({ fn }) => fn.max('number').as('last'))
    .where('number', '>=', FIRST_POSTED_ID)
    .where('number', '<', FIRST_ASSIGNED_NUMBER)
    .executeTakeFirstOrThrow()
  const id = Math.max(FIRST_POSTED_ID, Number(last ?? 0) + 1)
  await claimGlobalNumbers(tx, table, projectId, [id])
  return id
}

export async function markPosted({ db }: Tx, pipelineKey: number): Promise<void> {
  await db.updateTable('pipelines').set({ is_posted: 1 }).where('id', '=', pipelineKey).execute()
}

export async function insertStatus({ db }: Tx, { key, projectId }: Pipeline, job: Job): Promise<void> {
  const place = { pipeline_key: key, project_id: projectId, is_posted: 1 }
  await db
    .insertInto('pipeline_jobs')
    .values({ ...place, ...jobColumnsOf(job) })
    .execute()
}

export async function updateStatus({ db }: Tx, rowId: number, job: Job): Promise<void> {
  await db.updateTable('pipeline_jobs').set(jobColumnsOf(job)).where('id', '=', rowId).execute()
}
