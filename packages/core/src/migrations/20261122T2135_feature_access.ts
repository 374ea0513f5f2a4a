import type { Migration } from 'kysely'

const features = {
  projects: [
    'issues',
    'repository',
    'merge_requests',
    'builds',
    'wiki',
    'snippets',
    'releases',
    'environments',
    'feature_flags',
  ],
  groups: ['wiki'],
}

/** The access level of each feature of a project or group: disabled, members only, or everyone who sees it. */
export const migration: Migration = {
  async up(db) {
    for (const [table, names] of Object.entries(features))
      for (const name of names)
        await db.schema
          .alterTable(table)
          .addColumn(`${name}_access_level`, 'text', (column) => column.notNull().defaultTo('enabled'))
          .execute()
  },
}
