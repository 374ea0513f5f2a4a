import { type Kysely, type Migration, sql } from 'kysely'
import { issueReferencesIn } from '../code/mentions/issue-references.ts'

const BATCH_SIZE = 200

/** The issues that merge requests mention. Titles and descriptions that exist already are read for issues of the same project. */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .createTable('issue_mentions')
      .addColumn('merge_request_id', 'integer', (column) =>
        column.notNull().references('merge_requests.id').onDelete('cascade'),
      )
      .addColumn('issue_id', 'integer', (column) => column.notNull().references('issues.id').onDelete('cascade'))
      .addColumn('origin', 'text', (column) => column.notNull())
      .addColumn('is_closing', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('issue_mentions_key', ['issue_id', 'merge_request_id', 'origin'])
      .execute()
    await db.schema
      .createIndex('issue_mentions_merge_request')
      .on('issue_mentions')
      .columns(['merge_request_id', 'issue_id'])
      .execute()
    for (let after = 0; ; ) {
      const { rows } = await sql<{ id: number; project_id: number; title: string; description: string | null }>`
        select id, project_id, title, description from merge_requests where id > ${after}
        order by id limit ${sql.lit(BATCH_SIZE)}`.execute(db)
      for (const { id, project_id, title, description } of rows) {
        const closing = new Map<number, number>()
        for (const { project, iid, isClosing } of issueReferencesIn(`${title}\n${description ?? ''}`)) {
          if (project === undefined) closing.set(iid, Math.max(closing.get(iid) ?? 0, Number(isClosing)))
        }
        for (const [iid, isClosing] of closing) {
          await sql`insert into issue_mentions (merge_request_id, issue_id, origin, is_closing)
            select ${sql.lit(id)}, id, 'text', ${sql.lit(isClosing)} from issues
            where project_id = ${project_id} and iid = ${iid}`.execute(db)
        }
      }
      if (rows.length < BATCH_SIZE) return
      after = rows.at(-1)!.id
    }
  },
}
