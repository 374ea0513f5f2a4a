import { sql } from 'kysely'
import { z } from 'zod'
import { allowedInProject } from '../../base/access/visible-store.ts'
import { columnsOf, fromRow, type ObjectOf } from '../../base/kit/field-table.ts'
import { listedEach, listingOf } from '../../base/kit/listing.ts'
import { unscopedBatchQuery } from '../../base/operations/operation.ts'
import type { Milestone } from '../milestones/milestone.ts'
import { releaseFields } from './release.ts'

const { description: _, ...listedFields } = releaseFields

/** A release in a list, without its description. */
export interface ListedRelease extends ObjectOf<typeof listedFields> {
  /** Whether the caller may read the repository, and so know the tag. */
  readonly showsCode: boolean
}

/** Lists the releases of each milestone that the actor may see, the newest first. */
export const listReleasesOfEachMilestone = unscopedBatchQuery(
  { name: 'listReleasesOfEachMilestone', input: z.object({}) },
  async (context, milestones: readonly Milestone[]) => {
    const { db, actor } = context
    const released = milestones.map(({ id }) =>
      db
        .selectFrom('releases')
        .innerJoin('projects', 'projects.id', 'releases.project_id')
        .innerJoin('milestone_releases', 'milestone_releases.release_id', 'releases.id')
        .select(columnsOf(listedFields).map((column) => `releases.${column}` as const))
        .select(
          sql<number>`case when ${allowedInProject(context, actor, 'read_repository')} then 1 else 0 end`.as(
            'shows_code',
          ),
        )
        .where('milestone_releases.milestone_id', '=', id)
        .where(allowedInProject(context, actor, 'read_release')),
    )
    const listing = listingOf(context, released, {
      order: [
        { column: 'releases.released_at_ms', key: 'released_at_ms', direction: 'desc' },
        { column: 'releases.id', key: 'id', direction: 'desc' },
      ],
      itemsOf: (rows): ListedRelease[] =>
        rows.map((row) => ({ ...fromRow(listedFields, row), showsCode: row.shows_code === 1 })),
    })
    return listedEach(listing, milestones.length)
  },
)
