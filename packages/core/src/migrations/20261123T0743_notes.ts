import { tableWithId } from '@penstock/db'
import type { Migration } from 'kysely'

/** Notes on issues, merge requests, snippets and commits. Exactly one of the four columns refers to what a note is about. */
export const migration: Migration = {
  async up(db) {
    await tableWithId(db, 'notes')
      .addColumn('project_id', 'integer', (column) => column.notNull().references('projects.id').onDelete('cascade'))
      .addColumn('noteable_type', 'text', (column) => column.notNull())
      .addColumn('issue_id', 'integer', (column) => column.references('issues.id').onDelete('cascade'))
      .addColumn('merge_request_id', 'integer', (column) => column.references('merge_requests.id').onDelete('cascade'))
      .addColumn('snippet_id', 'integer', (column) => column.references('snippets.id').onDelete('cascade'))
      .addColumn('commit_sha', 'text')
      .addColumn('discussion_id', 'text', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('body', 'text', (column) => column.notNull())
      .addColumn('author_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('updated_by_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('is_system', 'integer', (column) => column.notNull())
      .addColumn('is_internal', 'integer', (column) => column.notNull())
      .addColumn('position', 'text')
      .addColumn('resolved_by_id', 'integer', (column) => column.references('users.id').onDelete('set null'))
      .addColumn('resolved_at_ms', 'bigint')
      .addColumn('created_at_ms', 'bigint', (column) => column.notNull())
      .addColumn('updated_at_ms', 'bigint', (column) => column.notNull())
      .execute()
    const lists = [
      ['issue', ['issue_id']],
      ['merge_request', ['merge_request_id']],
      ['snippet', ['snippet_id']],
      ['commit', ['project_id', 'commit_sha']],
    ] as const
    for (const [name, columns] of lists) {
      await db.schema
        .createIndex(`notes_${name}`)
        .on('notes')
        .columns([...columns, 'created_at_ms', 'id'])
        .execute()
    }
    for (const column of ['author_id', 'updated_by_id', 'resolved_by_id']) {
      await db.schema.createIndex(`notes_${column}`).on('notes').column(column).execute()
    }
    // Lists of issues and merge requests show the number of notes, so it is stored with each change.
    for (const table of ['issues', 'merge_requests']) {
      await db.schema
        .alterTable(table)
        .addColumn('user_notes_count', 'integer', (column) => column.notNull().defaultTo(0))
        .execute()
    }
  },
}
