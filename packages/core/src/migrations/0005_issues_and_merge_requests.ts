import { tableWithId } from '@penstock/db'
import type { Kysely, Migration } from 'kysely'

/** Labels, issues and merge requests, with their labels, assignees and reviewers. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'labels')
      .addColumn('group_id', 'integer', (column) => column.references('groups.id').onDelete('cascade'))
      .addColumn('project_id', 'integer', (column) => column.references('projects.id').onDelete('cascade'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('color', 'text', (column) => column.notNull())
      .addColumn('description', 'text')
      .addColumn('priority', 'integer')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('labels_group').unique().on('labels').columns(['group_id', 'name']).execute()
    await db.schema.createIndex('labels_project').unique().on('labels').columns(['project_id', 'name']).execute()
    await db.schema.createIndex('labels_name').on('labels').column('name').execute()

    await tableWithId(db, 'issues')
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('iid', 'integer', (column) => column.notNull())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('description', 'text')
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('author_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('milestone_id', 'integer', (column) => column.references('milestones.id').onDelete('set null'))
      .addColumn('due_date', 'text')
      .addColumn('is_confidential', 'integer', (column) => column.notNull())
      .addColumn('is_discussion_locked', 'integer')
      .addColumn('weight', 'integer')
      .addColumn('closed_by_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('closed_at_ms', 'bigint')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('issues_iid').unique().on('issues').columns(['project_id', 'iid']).execute()
    await db.schema.createIndex('issues_created').on('issues').columns(['project_id', 'created_at_ms']).execute()
    await db.schema.createIndex('issues_milestone').on('issues').column('milestone_id').execute()
    await db.schema.createIndex('issues_author').on('issues').column('author_id').execute()

    await tableWithId(db, 'issue_state_events')
      .addColumn('issue_id', 'integer', (column) => column.notNull().references('issues.id').onDelete('cascade'))
      .addColumn('action', 'text', (column) => column.notNull())
      .addColumn('user_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('at_ms', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('issue_state_events_issue').on('issue_state_events').column('issue_id').execute()

    await tableWithId(db, 'merge_requests')
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('iid', 'integer', (column) => column.notNull())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('is_draft', 'integer', (column) => column.notNull())
      .addColumn('description', 'text')
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('source_branch', 'text', (column) => column.notNull())
      .addColumn('target_branch', 'text', (column) => column.notNull())
      .addColumn('author_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('milestone_id', 'integer', (column) => column.references('milestones.id').onDelete('set null'))
      .addColumn('is_discussion_locked', 'integer')
      .addColumn('is_squashed', 'integer', (column) => column.notNull())
      .addColumn('removes_source_branch', 'integer')
      .addColumn('merged_by_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('merged_at_ms', 'bigint')
      .addColumn('closed_by_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('closed_at_ms', 'bigint')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    const mergeRequestIndex = (name: string) => db.schema.createIndex(`merge_requests_${name}`).on('merge_requests')
    await mergeRequestIndex('iid').unique().columns(['project_id', 'iid']).execute()
    await mergeRequestIndex('branches').columns(['project_id', 'source_branch', 'target_branch']).execute()
    await mergeRequestIndex('created').columns(['project_id', 'created_at_ms']).execute()
    await mergeRequestIndex('milestone').column('milestone_id').execute()
    await mergeRequestIndex('author').column('author_id').execute()

    await pairs(db, 'issue_labels', ['issues', 'issue_id'], ['labels', 'label_id'])
    await pairs(db, 'issue_assignees', ['issues', 'issue_id'], ['users', 'user_id'])
    await pairs(db, 'merge_request_labels', ['merge_requests', 'merge_request_id'], ['labels', 'label_id'])
    await pairs(db, 'merge_request_assignees', ['merge_requests', 'merge_request_id'], ['users', 'user_id'])
    await pairs(db, 'merge_request_reviewers', ['merge_requests', 'merge_request_id'], ['users', 'user_id'])
  },
}

/** Creates a table of unique pairs of references. A pair is deleted with either of the rows to which it refers. */
async function pairs(
  db: Kysely<unknown>,
  name: string,
  [owners, ownerId]: readonly [string, string],
  [others, otherId]: readonly [string, string],
): Promise<void> {
  await db.schema
    .createTable(name)
    .addColumn(ownerId, 'integer', (column) => column.notNull().references(`${owners}.id`).onDelete('cascade'))
    .addColumn(otherId, 'integer', (column) => column.notNull().references(`${others}.id`).onDelete('cascade'))
    .addPrimaryKeyConstraint(`${name}_key`, [ownerId, otherId])
    .execute()
  await db.schema.createIndex(`${name}_other`).on(name).column(otherId).execute()
}
