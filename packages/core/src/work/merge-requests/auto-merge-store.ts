import { Lookup } from '@penstock/db'
import type { Generated } from 'kysely'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Tx } from '../../base/operations/context.ts'
import type { Pipeline } from '../../ci/pipelines/pipeline.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    merge_request_auto_merges: {
      merge_request_id: number
      user_id: number
      sha: string
      /** JSON of `MergeOptions`. */
      options: string
      is_due: Generated<number>
      created_at_ms: number
    }
  }
}

/** The choices of a user for a merge. */
export interface MergeOptions {
  readonly mergeCommitMessage?: string | null | undefined
  readonly squashCommitMessage?: string | null | undefined
  readonly squash?: boolean | null | undefined
  readonly shouldRemoveSourceBranch?: boolean | null | undefined
}

/** A merge that waits for the pipeline of the source branch. */
export interface AutoMerge {
  readonly mergeRequestId: number
  readonly mergeRequestIid: number
  readonly projectId: number
  readonly sourceBranch: string
  /** The user who asked for it. */
  readonly userId: number
  /** The head of the source branch at that time. */
  readonly sha: string
  readonly options: MergeOptions
}

/** Stores an automatic merge, in place of a former one. */
export async function setAutoMerge(
  { db, nowMs }: Tx,
  { mergeRequestId, userId, sha, options }: Pick<AutoMerge, 'mergeRequestId' | 'userId' | 'sha' | 'options'>,
): Promise<void> {
  const columns = { user_id: userId, sha, options: JSON.stringify(options), is_due: 0, created_at_ms: nowMs }
  await db
    .insertInto('merge_request_auto_merges')
    .values({ merge_request_id: mergeRequestId, ...columns })
    .onConflict((conflict) => conflict.column('merge_request_id').doUpdateSet(columns))
    .execute()
}

/** Returns whether there was one. */
export async function deleteAutoMerge({ db }: Pick<Tx, 'db'>, mergeRequestId: number): Promise<boolean> {
  const query = db.deleteFrom('merge_request_auto_merges').where('merge_request_id', '=', mergeRequestId)
  return (await query.executeTakeFirstOrThrow()).numDeletedRows > 0n
}

export async function setAutoMergeDue({ db }: Tx, mergeRequestId: number): Promise<void> {
  await db
    .updateTable('merge_request_auto_merges')
    .set({ is_due: 1 })
    .where('merge_request_id', '=', mergeRequestId)
    .execute()
}

/** Returns the automatic merges that wait for a pipeline, by the ids of their merge requests. */
export async function autoMergesOfPipeline(
  context: ReadContext,
  { projectId, ref, mergeRequestIid }: Pick<Pipeline, 'projectId' | 'ref' | 'mergeRequestIid'>,
): Promise<AutoMerge[]> {
  if (mergeRequestIid === undefined) return ref === undefined ? [] : autoMergesOfBranch(context, projectId, ref)
  return (await ofMergeRequest.all(context.db, projectId, mergeRequestIid)).map(autoMergeOf)
}

/** Returns the automatic merges of a branch, by the ids of their merge requests. */
export async function autoMergesOfBranch(
  context: ReadContext,
  projectId: number,
  sourceBranch: string,
): Promise<AutoMerge[]> {
  return (await ofBranch.all(context.db, projectId, sourceBranch)).map(autoMergeOf)
}

/** Runs for every record of a pipeline. */
const ofBranch = new Lookup((db: ReadContext['db'], projectId: number, sourceBranch: string) =>
  autoMerges({ db })
    .where('merge_requests.project_id', '=', projectId)
    .where('merge_requests.source_branch', '=', sourceBranch),
)

const ofMergeRequest = new Lookup((db: ReadContext['db'], projectId: number, iid: number) =>
  autoMerges({ db }).where('merge_requests.project_id', '=', projectId).where('merge_requests.iid', '=', iid),
)

export async function findAutoMerge(context: ReadContext, mergeRequestId: number): Promise<AutoMerge | undefined> {
  const row = await autoMerges(context).where('merge_requests.id', '=', mergeRequestId).executeTakeFirst()
  return row && autoMergeOf(row)
}

export async function dueAutoMerges(context: ReadContext, limit: number): Promise<AutoMerge[]> {
  const rows = await autoMerges(context).where('is_due', '=', 1).limit(limit).execute()
  return rows.map(autoMergeOf)
}

const autoMerges = ({ db }: Pick<ReadContext, 'db'>) =>
  db
    .selectFrom('merge_request_auto_merges')
    .innerJoin('merge_requests', 'merge_requests.id', 'merge_request_auto_merges.merge_request_id')
    .select(['merge_requests.id', 'merge_requests.iid', 'merge_requests.project_id', 'merge_requests.source_branch'])
    .select(['user_id', 'sha', 'options'])
    .orderBy('merge_requests.id')

const autoMergeOf = (row: {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly source_branch: string
  readonly user_id: number
  readonly sha: string
  readonly options: string
}): AutoMerge => ({
  mergeRequestId: row.id,
  mergeRequestIid: row.iid,
  projectId: row.project_id,
  sourceBranch: row.source_branch,
  userId: row.user_id,
  sha: row.sha,
  options: JSON.parse(row.options) as MergeOptions,
})
