import { sql } from 'kysely'
import { columnsOf, fromRow } from '../../base/kit/field-table.ts'
import { type Listing, listingOf } from '../../base/kit/listing.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import type { Project } from '../../base/model/project.ts'
import { type DescribedLabel, describedLabelFields, type Label, labelFields } from '../labels/label.ts'
import { labelsByName } from '../labels/label-store.ts'
import type { DescribedIssuable, ListedIssuable } from './issuable.ts'
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

/** Returns the items with the details of their labels, if these were requested, ordered by name. */
export async function withLabelDetails<Item extends DescribedIssuable>(
  { db }: ReadContext,
  { labels: pairs, itemId }: IssuableTables,
  items: readonly Item[],
  { withLabelsDetails }: { readonly withLabelsDetails: boolean },
): Promise<readonly ListedIssuable<Item>[]> {
  if (!withLabelsDetails || items.length === 0) return items
  const { rows } = await sql<{ item_id: number; label_id: number }>`
    select ${sql.ref(itemId)} as item_id, label_id from ${sql.table(pairs)}
    where ${sql.ref(itemId)} in (${sql.join(items.map(({ id }) => id))})`.execute(db)
  const labelIds = [...new Set(rows.map((row) => row.label_id))]
  const labels =
    labelIds.length === 0
      ? []
      : await db.selectFrom('labels').selectAll().where('id', 'in', labelIds).orderBy('name').orderBy('id').execute()
  return items.map((item) => {
    const own = new Set(rows.filter((row) => row.item_id === item.id).map((row) => row.label_id))
    const labelDetails: DescribedLabel[] = labels
      .filter(({ id }) => own.has(id))
      .map((row) => fromRow(describedLabelFields, row))
    return { ...item, labelDetails }
  })
}
