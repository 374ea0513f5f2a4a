import { fromRow } from '../../base/kit/field-table.ts'
import type { Group } from '../../base/model/group.ts'
import type { Tx } from '../../base/operations/context.ts'
import { type DescribedLabel, describedLabelFields, type Label } from './label.ts'

/**
 * Moves the issues, merge requests and subscriptions of all labels with the same name in the projects of the group to the
 * label of the group, and deletes those labels.
 *
 * @returns the deleted labels, ordered by id
 */
export async function mergeIntoGroupLabel(
  { db }: Pick<Tx, 'db'>,
  { id: groupId }: Pick<Group, 'id'>,
  { id, name }: Label,
): Promise<DescribedLabel[]> {
  const projectIds = db.selectFrom('projects').select('projects.id').where('projects.group_id', '=', groupId)
  const merged = db
    .selectFrom('labels')
    .select('labels.id')
    .where('labels.name', '=', name)
    .where('labels.project_id', 'in', projectIds)
  await db
    .insertInto('issue_labels')
    .columns(['issue_id', 'label_id'])
    .expression((eb) =>
      eb
        .selectFrom('issue_labels')
        .select(['issue_id', eb.lit(id).as('label_id')])
        .distinct()
        .where('label_id', 'in', merged),
    )
    .onConflict((taken) => taken.doNothing())
    .execute()
  await db
    .insertInto('merge_request_labels')
    .columns(['merge_request_id', 'label_id'])
    .expression((eb) =>
      eb
        .selectFrom('merge_request_labels')
        .select(['merge_request_id', eb.lit(id).as('label_id')])
        .distinct()
        .where('label_id', 'in', merged),
    )
    .onConflict((taken) => taken.doNothing())
    .execute()
  // Of several subscriptions of one user, to subscribe counts more than to unsubscribe.
  await db
    .insertInto('label_subscriptions')
    .columns(['label_id', 'user_id', 'is_subscribed'])
    .expression((eb) =>
      eb
        .selectFrom('label_subscriptions')
        .select([eb.lit(id).as('label_id'), 'user_id', ({ fn }) => fn.max('is_subscribed').as('is_subscribed')])
        .where('label_id', 'in', merged)
        .groupBy('user_id'),
    )
    .onConflict((taken) => taken.doNothing())
    .execute()
  const rows = await db.deleteFrom('labels').where('id', 'in', merged).returningAll().execute()
  return rows.toSorted((a, b) => a.id - b.id).map((row) => fromRow(describedLabelFields, row))
}
