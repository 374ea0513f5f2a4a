import { sql } from 'kysely'
import { columnsOf } from '../kit/field-table.ts'
import { type Listing, listingOf } from '../kit/listing.ts'
import type { ReadContext } from '../kit/store-context.ts'
import { type Label, labelFields } from '../labels/label.ts'
import { labelsByName } from '../labels/label-store.ts'
import type { Project } from '../model/project.ts'
import type { IssuableTables } from './issuable-tables.ts'

/** Lists the labels of each item, ordered by name. */
export const labelListingOfItems = (
  context: ReadContext,
  { labels: pairs, itemId }: IssuableTables,
  itemIds: readonly number[],
): Listing<Label> =>
  listingOf(
    context,
    itemIds.map((id) =>
      context.db
        .selectFrom('labels')
        .select(columnsOf(labelFields))
        .where('id', 'in', sql<number>`(select label_id from ${sql.table(pairs)} where ${sql.ref(itemId)} = ${id})`),
    ),
    labelsByName,
  )

/** Returns the ids of the labels of one item. */
export async function labelIdsOfItem(
  { db }: ReadContext,
  { labels: pairs, itemId }: IssuableTables,
  id: number,
): Promise<number[]> {
  const { rows } = await sql<{ label_id: number }>`
    select label_id from ${sql.table(pairs)} where ${sql.ref(itemId)} = ${id}`.execute(db)
  return rows.map((row) => row.label_id)
}

/** Returns the ids of the given labels that belong to the project or to a group above it. */
export async function attachableLabelIds(
  { db }: ReadContext,
  project: Pick<Project, 'id' | 'groupIds'>,
  ids: readonly number[],
): Promise<number[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('labels')
    .select('id')
    .where('id', 'in', [...ids])
    .where((eb) =>
      eb.or([
        eb('project_id', '=', project.id),
        ...(project.groupIds.length > 0 ? [eb('group_id', 'in', [...project.groupIds])] : []),
      ]),
    )
    .execute()
  return rows.map((row) => row.id)
}
