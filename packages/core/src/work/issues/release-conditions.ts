import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { never } from '../../base/kit/conditions.ts'
import type { IssuableTables } from './issuable-tables.ts'

interface ReleaseFilter {
  readonly releaseTags?: readonly string[] | undefined
  readonly releaseTagWildcard?: 'any' | 'none' | undefined
  readonly not?: { readonly releaseTags?: readonly string[] | undefined } | undefined
}

/** Returns the conditions for items with a milestone that belongs to releases of their project. */
export const releaseConditions = (
  { items }: IssuableTables,
  { releaseTags, releaseTagWildcard, not }: ReleaseFilter,
): (RawBuilder<SqlBool> | false)[] => [
  releaseTags !== undefined && released(items, releaseTags),
  releaseTagWildcard === 'any' && released(items),
  releaseTagWildcard === 'none' && sql<SqlBool>`not ${released(items)}`,
  not?.releaseTags !== undefined && sql<SqlBool>`not ${released(items, not.releaseTags)}`,
]

/** @param tags if given, the release must have one of these tags */
function released(items: IssuableTables['items'], tags?: readonly string[]): RawBuilder<SqlBool> {
  if (tags?.length === 0) return never
  const tagged = tags === undefined ? sql`` : sql`and releases.tag in (${sql.join(tags)})`
  return sql<SqlBool>`exists (select 1 from milestone_releases
    inner join releases on releases.id = milestone_releases.release_id
    where milestone_releases.milestone_id = ${sql.ref(`${items}.milestone_id`)}
    and releases.project_id = ${sql.ref(`${items}.project_id`)} ${tagged})`
}
