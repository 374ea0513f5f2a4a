import { type Generated, sql } from 'kysely'
import type { Tx } from '../../base/operations/context.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    merge_request_versions: MergeRequestVersionsTable
  }
}

/** The states of the source branch of a merge request, one for each push while it was open. */
export interface MergeRequestVersionsTable {
  id: Generated<number>
  merge_request_id: number
  head_sha: string
  /** The tip of the target branch at that time; null if it did not exist. */
  start_sha: string | null
  created_at_ms: number
}

/** The head of the newest version of the merge request in a query. */
export const newestHeadSha = sql<string | null>`(select version.head_sha from merge_request_versions as version
  where version.merge_request_id = merge_requests.id order by version.id desc limit 1)`

/**
 * Stores a version for each open merge request of a source branch, unless its last version has the same head. Called in
 * the transaction of a push, and in that of the creation of a merge request.
 */
export async function recordMergeRequestVersions(
  { db, nowMs }: Pick<Tx, 'db' | 'nowMs'>,
  { projectId, branch }: { readonly projectId: number; readonly branch: string },
): Promise<void> {
  await db
    .insertInto('merge_request_versions')
    .columns(['merge_request_id', 'head_sha', 'start_sha', 'created_at_ms'])
    .expression((eb) =>
      eb
        .selectFrom('merge_requests')
        .innerJoin('branch_tips as head', (join) =>
          join
            .onRef('head.project_id', '=', 'merge_requests.project_id')
            .onRef('head.name', '=', 'merge_requests.source_branch'),
        )
        .leftJoin('branch_tips as start', (join) =>
          join
            .onRef('start.project_id', '=', 'merge_requests.project_id')
            .onRef('start.name', '=', 'merge_requests.target_branch'),
        )
        .select(['merge_requests.id', 'head.sha as head_sha', 'start.sha as start_sha'])
        .select(sql<number>`${sql.lit(nowMs)}`.as('created_at_ms'))
        .where('merge_requests.project_id', '=', projectId)
        .where('merge_requests.source_branch', '=', branch)
        .where('merge_requests.state', '=', 'opened')
        .where(sql<boolean>`coalesce(${newestHeadSha}, '') <> head.sha`),
    )
    .execute()
}
