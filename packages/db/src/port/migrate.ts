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

/** The migrations by name (`0001_…`), which are applied in the order of their names. Never change a released migration. */
export type Migrations = Readonly<Record<string, Migration>>

/**
 * Applies the pending migrations, all in one write transaction. Either all are applied or none. If several processes start
 * at the same time, one migrates while the others wait and then find nothing to do.
 *
 * @throws the error of a migration that fails; NewerVersionError if an applied migration is not in `migrations`
 */
export async function migrate<Tables>(db: Db<Tables>, migrations: Migrations): Promise<void> {
  const work = async (tx: Transaction<Tables>) => {
    requireKnownMigrations(await appliedMigrations(tx), migrations)
    const migrator = new Migrator({
      db: asDatabase(tx),
      provider: { getMigrations: async () => ({ ...migrations }) },
      // Otherwise Kysely checks the order by the times at which migrations ran, and the clock may have stepped back.
      allowUnorderedMigrations: true,
      disableTransactions: true,
    })
    const { error } = await migrator.migrateToLatest()
    if (error !== undefined) throw error
  }
  await db.write(work, { noTimeout: true })
}

/** Returns the names of the migrations that are not applied yet, and changes nothing. @throws NewerVersionError */
export async function pendingMigrations<Tables>(
  db: Pick<Db<Tables>, 'read'>,
  migrations: Migrations,
): Promise<string[]> {
  const applied = await appliedMigrations(db.read)
  requireKnownMigrations(applied, migrations)
  return Object.keys(migrations).filter((name) => !applied.includes(name))
}

/** Returns the name of the last applied migration, which is the version of the schema; `undefined` for a new database. */
export async function schemaVersion<Tables>(db: Pick<Db<Tables>, 'read'>): Promise<string | undefined> {
  return (await appliedMigrations(db.read)).toSorted().at(-1)
}

/** The error for a database that a newer version of Penstock has migrated. */
export class NewerVersionError extends Error {
  override readonly name = 'NewerVersionError'
}

function requireKnownMigrations(applied: readonly string[], migrations: Migrations): void {
  const unknown = applied.find((name) => !Object.hasOwn(migrations, name))
  if (unknown !== undefined)
    throw new NewerVersionError(`a newer version of Penstock has migrated this database (it has ${unknown})`)
}

async function appliedMigrations<Tables>(db: Kysely<Tables>): Promise<string[]> {
  const tables = await db.introspection.getTables({ withInternalKyselyTables: true })
  if (!tables.some(({ name }) => name === DEFAULT_MIGRATION_TABLE)) return []
  const { rows } = await sql<{ name: string }>`select name from ${sql.table(DEFAULT_MIGRATION_TABLE)}`.execute(db)
  return rows.map(({ name }) => name)
}

/** Adapts a transaction to the migrator, which expects a database from which it can reserve a connection. */
function asDatabase<Tables>(tx: Transaction<Tables>): Kysely<unknown> {
  const executor = tx.getExecutor()
  const connection: DatabaseConnection = {
    executeQuery: async <Row>(query: CompiledQuery) => (await tx.executeQuery(query)) as QueryResult<Row>,
    streamQuery() {
      throw new Error('A migration cannot stream')
    },
  }
  const refuseNesting = async () => {
    throw new Error('A migration already runs inside a transaction')
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

/** Removes the migration lock from an adapter, because the write transaction already excludes other migrators. */
function withoutLock(adapter: DialectAdapter): DialectAdapter {
  const nothing = { value: async () => {} }
  return Object.create(adapter, { acquireMigrationLock: nothing, releaseMigrationLock: nothing })
}
