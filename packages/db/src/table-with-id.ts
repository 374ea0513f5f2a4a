import { type CreateTableBuilder, type Kysely, PostgresAdapter } from 'kysely'

/** A new table with a column `id` that counts by itself and never gives a number again; nobody else gives numbers. */
export function tableWithId<Name extends string>(db: Kysely<unknown>, name: Name): CreateTableBuilder<Name, 'id'> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter
  return db.schema.createTable(name).addColumn('id', 'integer', (column) =>
    // Where it lets others give one too, it comes to give the same itself.
    isPostgres ? column.generatedAlwaysAsIdentity().primaryKey() : column.primaryKey().autoIncrement(),
  )
}
