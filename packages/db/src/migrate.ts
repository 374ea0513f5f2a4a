import {
  type CompiledQuery,
  type DatabaseConnection,
  DEFAULT_MIGRATION_TABLE,
  type DialectAdapter,
  type Driver,
  Kysely,
  type Migration,
  Migrator,
  type QueryResult,
  sql,
  type Transaction,
} from 'kysely'
import type { Db } from './db.ts'

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
  const work = async (tx: Transaction<Tables>) => {
    refuseNewer(await appliedTo(tx), migrations)
    const migrator = new Migrator({
      db: inside(tx),
      provider: { getMigrations: async () => ({ ...migrations }) },
      // The order it would insist on otherwise is that of the clock at the time, which may have stepped back.
      allowUnorderedMigrations: true,
      disableTransactions: true,
    })
    const { error } = await migrator.migrateToLatest()
    if (error !== undefined) throw error
  }
  await db.write(work, { noTimeout: true })
}

/** Names of those the database has not seen; changes nothing. @throws NewerVersionError */
export async function pendingMigrations<Tables>(
  db: Pick<Db<Tables>, 'read'>,
  migrations: Migrations,
): Promise<string[]> {
  const applied = await appliedTo(db.read)
  refuseNewer(applied, migrations)
  return Object.keys(migrations).filter((name) => !applied.includes(name))
}

/** The database was made by a newer version. */
export class NewerVersionError extends Error {
  override readonly name = 'NewerVersionError'
}

function refuseNewer(applied: readonly string[], migrations: Migrations): void {
  const unknown = applied.find((name) => !Object.hasOwn(migrations, name))
  if (unknown !== undefined) throw new NewerVersionError(`a newer version has made this database (it has ${unknown})`)
}

async function appliedTo<Tables>(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return []
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db)
  return rows.map(({ name }) => name)
}

/** The migrator wants a database that can reserve a connection; a transaction is one already. */
function inside<Tables>(tx: Transaction<Tables>): Kysely<unknown> {
  const executor = tx.getExecutor()
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
      createAdapter: () => withoutLock(executor.adapter),
      createDriver: () => driver,
      createIntrospector: () => tx.introspection,
      createQueryCompiler: () => ({ compileQuery: (node, queryId) => executor.compileQuery(node, queryId) }),
    },
  })
}

/** The transaction is the lock. */
function withoutLock(adapter: DialectAdapter): DialectAdapter {
  const nothing = { value: async () => {} }
  return Object.create(adapter, { acquireMigrationLock: nothing, releaseMigrationLock: nothing })
}
