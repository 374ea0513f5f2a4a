import type { Selectable } from 'kysely'
import { type Page, type PageRequest, pageOfItems } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { MergeRequestVersionsTable } from '../../code/repositories/merge-request-version-store.ts'

/** A state of the source branch of a merge request. */
export interface MergeRequestVersion {
  readonly id: number
  readonly mergeRequestId: number
  readonly headSha: string
  /** The tip of the target branch at that time; `undefined` if it did not exist. */
  readonly startSha: string | undefined
  readonly createdAtMs: number
}

const versionsOf = ({ db }: ReadContext, mergeRequestId: number) =>
  db
    .selectFrom('merge_request_versions')
    .selectAll()
    .where('merge_request_id', '=', mergeRequestId)
    .orderBy('merge_request_versions.id', 'desc')

/** Returns a page of the versions of a merge request, newest first. */
export const pageOfVersions = (
  context: ReadContext,
  mergeRequestId: number,
  page: PageRequest,
): Promise<Page<MergeRequestVersion>> => pageOfItems(context, versionsOf(context, mergeRequestId), page, versionOf)

/** Returns the newest version of a merge request, or the one with the id if it is given. */
export async function findNewestVersion(
  context: ReadContext,
  mergeRequestId: number,
  id?: number,
): Promise<MergeRequestVersion | undefined> {
  const row = await versionsOf(context, mergeRequestId)
    .$if(id !== undefined, (query) => query.where('id', '=', id!))
    .limit(1)
    .executeTakeFirst()
  return row && versionOf(row)
}

/** Returns the newest version of each merge request that has one, by the id of the merge request. */
export async function newestVersionsOf(
  { db }: ReadContext,
  mergeRequestIds: readonly number[],
): Promise<ReadonlyMap<number, MergeRequestVersion>> {
  if (mergeRequestIds.length === 0) return new Map()
  const newest = db
    .selectFrom('merge_request_versions')
    .select(({ fn }) => fn.max('merge_request_versions.id').as('id'))
    .where('merge_request_id', 'in', [...mergeRequestIds])
    .groupBy('merge_request_id')
  const rows = await db.selectFrom('merge_request_versions').selectAll().where('id', 'in', newest).execute()
  return new Map(rows.map((row) => [row.merge_request_id, versionOf(row)]))
}

/** The newest version of a merge request, and the commits that its merge has made. */
export interface CommitsOfMergeRequest {
  readonly id: number
  readonly headSha: string | null
  readonly startSha: string | null
  readonly mergeCommitSha: string | null
  readonly squashCommitSha: string | null
}

/** Returns the commits of the merge requests of a project: the newest `limit` of them. */
export const commitsOfMergeRequests = (
  { db }: ReadContext,
  projectId: number,
  limit: number,
): Promise<CommitsOfMergeRequest[]> =>
  db
    .selectFrom('merge_requests')
    .leftJoin('merge_request_versions as version', (join) =>
      join.on(({ eb, selectFrom, ref }) =>
        eb(
          'version.id',
          '=',
          selectFrom('merge_request_versions')
            .select(({ fn }) => fn.max('merge_request_versions.id').as('id'))
            .where('merge_request_versions.merge_request_id', '=', ref('merge_requests.id')),
        ),
      ),
    )
    .select([
      'merge_requests.id',
      'version.head_sha as headSha',
      'version.start_sha as startSha',
      'merge_requests.merge_commit_sha as mergeCommitSha',
      'merge_requests.squash_commit_sha as squashCommitSha',
    ])
    .where('merge_requests.project_id', '=', projectId)
    .orderBy('merge_requests.id', 'desc')
    .limit(limit)
    .execute()

const versionOf = (row: Selectable<MergeRequestVersionsTable>): MergeRequestVersion => ({
  id: row.id,
  mergeRequestId: row.merge_request_id,
  headSha: row.head_sha,
  startSha: row.start_sha ?? undefined,
  createdAtMs: row.created_at_ms,
})
