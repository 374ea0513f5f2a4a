import {
  type CompiledQuery,
  type DatabaseConnection,
  DEFAULT_MIGRATION_TABLE,
  type Driver,
  Kysely,
  type Migration,
  Migrator,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
  type Transaction,
} from 'kysely'
import type { Db } from './sqlite.ts'

/** By name, `0001_…`; applied in the order of the names. Append-only: what has been released is never changed. */
export type Migrations = Readonly<Record<string, Migration>>

/**
 * Applies the migrations that the database has not seen.
 *
 * All of them in one write transaction: they happen wholly or not at all, and of several processes that start at once
 * one migrates while the others wait and then find nothing to do.
 *
 * Throws when one fails, and `NewerVersionError` when the database has seen one that is not listed.
 */
export async function migrate<Tables>(db: Db<Tables>, migrations: Migrations): Promise<void> {
  await db.write(async (tx) => {
    const unknown = (await appliedTo(tx)).find((name) => !Object.hasOwn(migrations, name))
    if (unknown !== undefined) throw new NewerVersionError(`a newer version has made this database (it has ${unknown})`)
    const migrator = new Migrator({
      db: inside(tx),
      provider: { getMigrations: async () => ({ ...migrations }) },
      // The order it would insist on otherwise is that of the clock at the time, which may have stepped back.
      allowUnorderedMigrations: true,
    })
    const { error } = await migrator.migrateToLatest()
    if (error !== undefined) throw error
  })
}

/** The database was made by a newer version. */
export class NewerVersionError extends Error {
  override readonly name = 'NewerVersionError'
}

async function appliedTo<Tables>(tx: Transaction<Tables>): Promise<string[]> {
  const tables = await tx.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return []
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(tx)
  return rows.map(({ name }) => name)
}

/** The migrator wants a database that can reserve a connection; a transaction is one already. */
function inside<Tables>(tx: Transaction<Tables>): Kysely<unknown> {
  const connection: DatabaseConnection = {
    executeQuery: async <Row>(query: CompiledQuery) => (await tx.executeQuery(query)) as QueryResult<Row>,
    streamQuery() {
      throw new Error('A migration cannot stream')
    },
  }
  const refuseNesting = async () => {
    throw new Error('A migration runs inside a transaction already')
  }
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: refuseNesting,
    commitTransaction: refuseNesting,
    rollbackTransaction: refuseNesting,
    releaseConnection: async () => {},
    destroy: async () => {},
  }
  return new Kysely<unknown>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
}
