import type { Selectable } from 'kysely'
import { type Page, type PageRequest, pageOfItems } from '../kit/page.ts'
import type { ReadContext } from '../kit/store-context.ts'
import type { MergeRequestVersionsTable } from '../repositories/merge-request-version-store.ts'

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

const versionOf = (row: Selectable<MergeRequestVersionsTable>): MergeRequestVersion => ({
  id: row.id,
  mergeRequestId: row.merge_request_id,
  headSha: row.head_sha,
  startSha: row.start_sha ?? undefined,
  createdAtMs: row.created_at_ms,
})
