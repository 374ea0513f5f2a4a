import { type CreateTableBuilder, type Kysely, PostgresAdapter } from 'kysely'

/** A new table with a column `id` that counts by itself and never gives a number again. */
export function tableWithId<Name extends string>(db: Kysely<unknown>, name: Name): CreateTableBuilder<Name, 'id'> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter
  return db.schema
    .createTable(name)
    .addColumn('id', 'integer', (column) =>
      isPostgres ? column.generatedByDefaultAsIdentity().primaryKey() : column.primaryKey().autoIncrement(),
    )
}
