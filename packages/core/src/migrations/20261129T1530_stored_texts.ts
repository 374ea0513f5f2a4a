import { type Kysely, type Migration, PostgresAdapter, sql } from 'kysely'

/** The tables with long texts of users, and the column that has the text. */
const tables = [
  ['labels', 'description'],
  ['milestones', 'description'],
  ['notes', 'body'],
  ['releases', 'description'],
  ['issues', 'description'],
  ['merge_requests', 'description'],
] as const
/** The size of a row's other columns and its indexes. */
const ROW_BYTES = 256

/**
 * Counts the texts of a project towards its storage. Triggers count them, because rows are also deleted by the foreign keys of
 * others: an issue deletes its notes.
 */
export const migration: Migration = {
  async up(db: Kysely<unknown>) {
    await db.schema
      .alterTable('project_storage')
      .addColumn('texts_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
    const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter
    for (const [table, column] of tables) {
      await countStored(db, table, column)
      for (const statement of isPostgres ? postgresTrigger(table, column) : sqliteTriggers(table, column)) {
        await sql.raw(statement).execute(db)
      }
    }
  },
}

const rowBytes = (row: string, column: string) => `${ROW_BYTES} + coalesce(octet_length(${row}.${column}), 0)`

async function countStored(db: Kysely<unknown>, table: string, column: string): Promise<void> {
  await sql
    .raw(`insert into project_storage (project_id, records_bytes, texts_bytes)
      select stored.project_id, 0, sum(${rowBytes('stored', column)}) from ${table} as stored
      where stored.project_id is not null group by stored.project_id
      on conflict (project_id) do update set texts_bytes = project_storage.texts_bytes + excluded.texts_bytes`)
    .execute(db)
}

const addNew = (column: string) =>
  `insert into project_storage (project_id, records_bytes, texts_bytes) values (new.project_id, 0, ${rowBytes('new', column)})
    on conflict (project_id) do update set texts_bytes = project_storage.texts_bytes + excluded.texts_bytes;`

const subtractOld = (column: string) =>
  `update project_storage set texts_bytes = texts_bytes - (${rowBytes('old', column)}) where project_id = old.project_id;`

const sqliteTriggers = (table: string, column: string): string[] => [
  `create trigger ${table}_text_inserted after insert on ${table} when new.project_id is not null
    begin ${addNew(column)} end`,
  `create trigger ${table}_text_deleted after delete on ${table} when old.project_id is not null
    begin ${subtractOld(column)} end`,
  `create trigger ${table}_text_left after update of ${column}, project_id on ${table} when old.project_id is not null
    begin ${subtractOld(column)} end`,
  `create trigger ${table}_text_updated after update of ${column}, project_id on ${table} when new.project_id is not null
    begin ${addNew(column)} end`,
]

const postgresTrigger = (table: string, column: string): string[] => [
  `create function ${table}_text_changed() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' and old.project_id is not null then ${subtractOld(column)} end if;
      if tg_op <> 'DELETE' and new.project_id is not null then ${addNew(column)} end if;
      return null;
    end $$`,
  `create trigger ${table}_text_changed after insert or delete or update of ${column}, project_id on ${table}
    for each row execute function ${table}_text_changed()`,
]
