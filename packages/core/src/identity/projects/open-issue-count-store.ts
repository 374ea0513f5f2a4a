import { sql } from 'kysely'
import { isOneOf } from '../../base/kit/conditions.ts'
import { MAX_COUNTED } from '../../base/kit/page.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'

/**
 * Returns the number of open issues of each project, counted up to `MAX_COUNTED + 1`.
 *
 * @param withConfidential the projects in which confidential issues count too
 */
export async function openIssueCounts(
  { db }: ReadContext,
  projectIds: readonly number[],
  withConfidential: readonly number[],
): Promise<ReadonlyMap<number, number>> {
  if (projectIds.length === 0) return new Map()
  const open = sql<number>`(select count(*) from (
    select 1 from issues where issues.project_id = projects.id and issues.state = 'opened'
    and (issues.is_confidential = 0 or ${isOneOf(sql.ref('projects.id'), withConfidential)})
    limit ${sql.lit(MAX_COUNTED + 1)}
  ) as counted)`
  const rows = await db
    .selectFrom('projects')
    .select(['projects.id', open.as('open')])
    .where('projects.id', 'in', [...new Set(projectIds)])
    .execute()
  return new Map(rows.map((row) => [row.id, Number(row.open)]))
}
