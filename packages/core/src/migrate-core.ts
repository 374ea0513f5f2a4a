import { readdir } from 'node:fs/promises'
import { type Db, type Migrations, migrate, pendingMigrations } from '@penstock/db'
import type { Migration } from 'kysely'
import type { CoreTables } from './base/kit/tables.ts'

const directory = new URL('./migrations/', import.meta.url)
/** Matches `0001_identities.js` and, for newer ones, `20261122T1500_ids_of_projects.js`, but no declaration files. */
const migrationFile = /^((?:\d{4}|\d{8}T\d{4})_[a-z0-9_]+)\.(?:js|ts)$/

/**
 * Runs the migrations of the core: every file in `migrations/` exports one as `migration`.
 *
 * @param others migrations of other packages that have tables in this database; their names must differ from the core's
 * @throws the error of a migration that fails; `NewerVersionError` if the database has migrations that this version lacks
 */
export async function migrateCore(db: Db<CoreTables>, others: Migrations = {}): Promise<void> {
  await migrate(db, await allMigrations(others))
}

/**
 * Returns the names of the migrations that have not been run on the database; changes nothing.
 *
 * @throws `NewerVersionError`
 */
export async function pendingCoreMigrations(
  db: Pick<Db<CoreTables>, 'read'>,
  others: Migrations = {},
): Promise<string[]> {
  return pendingMigrations(db, await allMigrations(others))
}

/** Returns whether no migration has been run on the database yet. @throws `NewerVersionError` */
export async function isNewCoreDatabase(db: Pick<Db<CoreTables>, 'read'>, others: Migrations = {}): Promise<boolean> {
  const migrations = await allMigrations(others)
  return (await pendingMigrations(db, migrations)).length === Object.keys(migrations).length
}

const allMigrations = async (others: Migrations): Promise<Migrations> => ({ ...(await coreMigrations()), ...others })

async function coreMigrations(): Promise<Migrations> {
  const names = (await readdir(directory)).filter((name) => migrationFile.test(name)).sort()
  const entries = names.map(async (name): Promise<[string, Migration]> => {
    const { migration } = (await import(new URL(name, directory).href)) as { migration: Migration }
    return [migrationFile.exec(name)![1]!, migration]
  })
  return Object.fromEntries(await Promise.all(entries))
}
