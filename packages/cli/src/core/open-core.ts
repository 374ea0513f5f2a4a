import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type Core,
  type CoreTables,
  isNewCoreDatabase,
  loadSecretsKey,
  migrateCore,
  pendingCoreMigrations,
} from '@penstock/core'
import { type Db, openDatabase } from '@penstock/db'
import { type ExporterTables, exporterMigrations } from '@penstock/exporter'
import type { Clock, Log } from '@penstock/runtime'
import { prepareDataDirectory } from '../data-directory.ts'
import { UsageError } from '../environment.ts'
import type { Settings } from '../serve/setting-table.ts'
import { orUnusable } from '../serve/start-error.ts'
import { isSystemError, systemReason } from '../system-error.ts'

export const CORE_FILE = 'core.db'
const SECRETS_KEY_FILE = 'secrets.key'

/** Where the core keeps its tables. What a URL says after the scheme may be a secret. */
export function coreDatabase({ databaseUrl, dataDir }: Settings): { location: string; name: string } {
  return databaseUrl === undefined
    ? { location: join(dataDir, CORE_FILE), name: join(dataDir, CORE_FILE) }
    : { location: databaseUrl, name: 'the database of PENSTOCK_DATABASE_URL' }
}

/** Exports are kept beside the records they are of, so that one transaction writes both. */
export type CoreDatabaseTables = CoreTables & ExporterTables

export interface OpenCore {
  readonly core: Core
  /** The same database as the core's, with all that is in it. */
  readonly db: Db<CoreDatabaseTables>
  close(): Promise<void>
}

export interface OpenCoreOptions {
  /** Every generated URL starts with it. */
  readonly externalUrl: string
  /** Brings the tables up to this version; without it only a new database gets any. */
  readonly migrates: boolean
  /** Only one that is there: a slip in a name makes none. */
  readonly isThere?: boolean
}

/**
 * The core on its database.
 *
 * @throws {UsageError} when the directory or the database cannot be used
 */
export async function openCore(
  settings: Settings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  { externalUrl, migrates, isThere = false }: OpenCoreOptions,
): Promise<OpenCore> {
  const { dataDir } = settings
  if (isThere) requireFiles(settings)
  prepareDataDirectory(dataDir, log)
  const { location, name } = coreDatabase(settings)
  const db = await orUnusable(name, (async () => openDatabase<CoreDatabaseTables>(location))())
  try {
    if (isThere && (await orUnusable(name, isNewCoreDatabase(db, exporterMigrations)))) {
      throw noCore(name)
    }
    await orUnusable(name, migrates ? migrateCore(db, exporterMigrations) : requireTables(db, name))
    const core: Core = {
      db,
      clock,
      randomBytes,
      settings: {
        serviceName: settings.serviceName,
        externalUrl,
        repositoriesDir: join(dataDir, 'repositories'),
        secretsKey: await loadKey(join(dataDir, SECRETS_KEY_FILE)),
        projectStorageBytes: settings['core.projectStorageBytes'],
        impersonationEnabled: settings['core.impersonationEnabled'],
        personalAccessTokenPrefix: `${settings.serviceName}pat-`,
        oauthTokenLifetimeSeconds: settings['core.oauthTokenLifetimeSeconds'],
        adminMode: settings['core.adminMode'],
        ropcWithoutClientCredentials: settings['core.ropcWithoutClientCredentials'],
      },
    }
    return { core, db, close: () => db.close() }
  } catch (error) {
    await db.close()
    throw error
  }
}

const noCore = (where: string): UsageError =>
  new UsageError(`there is no core in ${where}: start penstock serve core (or all) on it first`)

/** A new key would open nothing that the core has sealed. */
function requireFiles({ dataDir, databaseUrl }: Settings): void {
  if (databaseUrl === undefined && !existsSync(join(dataDir, CORE_FILE))) {
    throw noCore(dataDir)
  }
  if (!existsSync(join(dataDir, SECRETS_KEY_FILE))) {
    throw new UsageError(`there is no ${SECRETS_KEY_FILE} in ${dataDir}: it has to be that of the core`)
  }
}

/** A service of the version before may be at work on the tables. */
async function requireTables(db: Db<CoreDatabaseTables>, name: string): Promise<void> {
  if (await isNewCoreDatabase(db, exporterMigrations)) return migrateCore(db, exporterMigrations)
  const pending = await pendingCoreMigrations(db, exporterMigrations)
  if (pending.length === 0) return
  throw new UsageError(`${name} lacks ${pending.join(', ')}: end the older service, then run penstock migrate`)
}

async function loadKey(file: string): Promise<Uint8Array> {
  try {
    return await loadSecretsKey(file, randomBytes)
  } catch (error) {
    if (isSystemError(error)) throw new UsageError(`cannot use ${file}: ${systemReason(error)}`)
    throw new UsageError((error as Error).message)
  }
}
