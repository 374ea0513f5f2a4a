import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Core } from '../../base/operations/context.ts'
import type { BranchCheck, BranchCheckOutcome } from './merge-request.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    merge_checks: MergeChecksTable
  }
}

/** The last check of each merge request. It holds as long as both branches have these heads. */
interface MergeChecksTable {
  merge_request_id: number
  source_sha: string
  target_sha: string
  outcome: BranchCheckOutcome
  is_behind: number
}

export interface CheckedBranches extends BranchCheck {
  readonly mergeRequestId: number
  readonly sourceSha: string
  readonly targetSha: string
}

/** Stores checks in place of former ones. Merge requests that were removed since are left out. */
export async function storeBranchChecks(core: Pick<Core, 'db'>, checks: readonly CheckedBranches[]): Promise<void> {
  if (checks.length === 0) return
  await core.db.write(async (db) => {
    const existing = await existingIds({ db }, checks)
    for (const check of checks.filter(({ mergeRequestId }) => existing.has(mergeRequestId))) {
      const columns = {
        source_sha: check.sourceSha,
        target_sha: check.targetSha,
        outcome: check.outcome,
        is_behind: Number(check.isBehind),
      }
      await db
        .insertInto('merge_checks')
        .values({ merge_request_id: check.mergeRequestId, ...columns })
        .onConflict((conflict) => conflict.column('merge_request_id').doUpdateSet(columns))
        .execute()
    }
  })
}

async function existingIds(
  { db }: Pick<ReadContext, 'db'>,
  checks: readonly CheckedBranches[],
): Promise<ReadonlySet<number>> {
  const ids = checks.map(({ mergeRequestId }) => mergeRequestId)
  const rows = await db.selectFrom('merge_requests').select('id').where('id', 'in', ids).execute()
  return new Set(rows.map(({ id }) => id))
}
