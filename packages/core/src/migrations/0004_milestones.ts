import { tableWithId } from '@penstock/db'
import { type Migration, sql } from 'kysely'

/** Milestones of groups and projects: exactly one of the two parents is set. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'milestones')
      .addColumn('group_id', 'integer', (column) => column.references('groups.id').onDelete('cascade'))
      .addColumn('project_id', 'integer', (column) => column.references('projects.id').onDelete('cascade'))
      .addColumn('iid', 'integer', (column) => column.notNull())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('description', 'text')
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('start_date', 'text')
      .addColumn('due_date', 'text')
      // SQLite and PostgreSQL sort nulls differently in an index. This value sorts after every date in every collation.
      .addColumn('due_order', 'text', (column) =>
        column.notNull().generatedAlwaysAs(sql`coalesce(due_date, '9999-99-99')`).stored(),
      )
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .execute()

    // Lists are read in index order, so that the cost of a page does not grow with the number of milestones.
    const order = ['due_order', 'id desc'] as const
    for (const parent of ['group', 'project']) {
      const index = (name: string) => db.schema.createIndex(`milestones_${parent}_${name}`).on('milestones')
      const id = `${parent}_id`
      await index('iid').unique().columns([id, 'iid']).execute()
      await index('order')
        .columns([id, ...order])
        .execute()
      await index('state')
        .columns([id, 'state', ...order])
        .execute()
      // The title comes first, because the check for uniqueness looks it up.
      await index('title')
        .columns(['title', id, ...order])
        .execute()
    }
  },
}
