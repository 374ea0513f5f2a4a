import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  acceptsSecretsKey,
  type Core,
  type CoreTables,
  isNewCoreDatabase,
  loadSecretsKey,
  migrateCore,
  needsSecretsKey,
  pendingCoreMigrations,
  storedTextLimit,
} from '@penstock/core'
import { type Db, openDatabase } from '@penstock/db'
import { notGlobalReason } from '@penstock/delivery'
import { type ExporterTables, exporterMigrations } from '@penstock/exporter'
import { MarkupRenderer } from '@penstock/markup'
import type { Clock, Log } from '@penstock/runtime'
import { requireNoRestore } from '../process/data-directory.ts'
import { useDataDirectory } from '../process/data-directory-use.ts'
import { requireUsable } from '../process/database-error.ts'
import { UsageError } from '../process/environment.ts'
import { isSystemError, systemReason } from '../process/system-error.ts'
import { pinnedSettings, type Settings } from '../settings/setting-table.ts'
import { configuredSpamCheck } from './configured-spam-check.ts'
import { followClock } from './database-clock.ts'

export const CORE_FILE = 'core.db'
export const SECRETS_KEY_FILE = 'secrets.key'

/**
 * Returns the location of the core's database and a name for messages. The name never contains
 * the URL, which may hold a secret.
 */
export function coreDatabase({ databaseUrl, dataDir }: Settings): { location: string; name: string } {
  return databaseUrl === undefined
    ? { location: join(dataDir, CORE_FILE), name: join(dataDir, CORE_FILE) }
    : { location: databaseUrl, name: 'the database of PENSTOCK_DATABASE_URL' }
}

export const repositoriesDirectory = ({ dataDir }: Pick<Settings, 'dataDir'>): string => join(dataDir, 'repositories')

/** The tables of the core and of the exporter. They are in one database, so that one transaction can write to both. */
export type CoreDatabaseTables = CoreTables & ExporterTables

export interface OpenCore {
  readonly core: Core
  /** The core's database with all its tables. */
  readonly db: Db<CoreDatabaseTables>
  close(): Promise<void>
}

export interface OpenCoreOptions {
  /** The prefix of every generated URL. */
  readonly externalUrl: string
  /** Whether to migrate an older database; if false, only a new database gets its tables. */
  readonly migrates: boolean
  /** Whether to refuse a missing database, so that a mistyped name does not create one. */
  readonly mustExist?: boolean
  /** Whether to accept an empty database, or a new key, although the data directory was used before. */
  readonly acceptsNewStore?: boolean
}

/**
 * Opens the core with its database.
 *
 * @throws {UsageError} if the directory or the database cannot be used
 */
export async function openCore(
  settings: Settings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  options: OpenCoreOptions,
): Promise<OpenCore> {
  const { dataDir } = settings
  if (options.mustExist === true) requireFiles(settings)
  const use = await useDataDirectory(dataDir, log)
  try {
    const { core, db, close } = await openCoreIn(settings, { clock, log }, options)
    return { core, db, close: () => close().finally(use.release) }
  } catch (error) {
    use.release()
    throw error
  }
}

async function openCoreIn(
  settings: Settings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  { externalUrl, migrates, mustExist = false, acceptsNewStore = false }: OpenCoreOptions,
): Promise<OpenCore> {
  const { dataDir } = settings
  const { location, name } = coreDatabase(settings)
  // Looked for before the database, because a process that starts at the same time creates the database first.
  const requireNotLost = existsSync(join(dataDir, SECRETS_KEY_FILE)) && !acceptsNewStore ? refuseLostCore : () => {}
  if (settings.databaseUrl === undefined && !existsSync(location)) requireNotLost(name)
  const db = await requireUsable(
    name,
    (async () => openDatabase<CoreDatabaseTables>(location, { checkpointsInThread: true, searchesInThreads: true }))(),
  )
  try {
    const isNew = await requireUsable(name, isNewCoreDatabase(db, exporterMigrations))
    if (mustExist && isNew) throw missingCoreError(name)
    if (isNew) requireNotLost(name)
    await requireUsable(name, migrates ? migrateCore(db, exporterMigrations) : requireTables(db, name))
    const secretsKey = await openSecretsKey(dataDir, { db, name, acceptsNewStore })
    const spam = configuredSpamCheck(settings, externalUrl)
    const followed = await requireUsable(name, followClock(db, { clock, log }))
    const markup = MarkupRenderer.start()
    const geoNodeName = settings['core.geoNodeName']
    const core: Core = {
      db,
      clock: followed.clock,
      randomBytes,
      listeners: [storedTextLimit],
      localAddressReason: notGlobalReason,
      ...(spam && { spamCheck: spam.check }),
      markup,
      settings: {
        serviceName: settings.serviceName,
        externalUrl,
        repositoriesDir: repositoriesDirectory(settings),
        secretsKey,
        projectStorageBytes: settings['core.projectStorageBytes'],
        impersonationEnabled: settings['core.impersonationEnabled'],
        settingsCacheSeconds: settings['core.settingsCacheSeconds'],
        ...(geoNodeName !== undefined && { geoNodeName }),
        pinnedSettings: pinnedSettings(settings),
      },
    }
    const close = async () => {
      await followed.end()
      await spam?.close()
      await markup.close()
      await db.close()
    }
    return { core, db, close }
  } catch (error) {
    await db.close()
    throw error
  }
}

const missingCoreError = (where: string): UsageError =>
  new UsageError(`there is no core in ${where}: start penstock serve core (or all) on it first`)

/**
 * Requires that the database file and the key of an existing core are there. A new key could not decrypt the stored
 * values.
 */
function requireFiles({ dataDir, databaseUrl }: Settings): void {
  requireNoRestore(dataDir)
  if (databaseUrl === undefined && !existsSync(join(dataDir, CORE_FILE))) {
    throw missingCoreError(dataDir)
  }
  requireKey(dataDir)
}

function requireKey(dataDir: string): void {
  if (existsSync(join(dataDir, SECRETS_KEY_FILE))) return
  throw new UsageError(`there is no ${SECRETS_KEY_FILE} in ${dataDir}: restore it, or copy the one of the core there`)
}

/** @throws {UsageError} because a data directory that has a key was used with a database that is not there */
function refuseLostCore(name: string): never {
  const { message, remedy } = lostCoreText(name)
  throw new UsageError(`${message}: ${remedy}`)
}

/** The problem and its solution if the database of a data directory that has a key is missing. */
export const lostCoreText = (name: string) => ({
  message: `${name} is missing or empty, but the data directory has ${SECRETS_KEY_FILE}, so the data of the core is lost`,
  remedy: 'restore a backup, or run penstock serve --new-store to begin without it',
})

/** Returns the key that the secrets of the database are encrypted with; a new database gets a new key. @throws {UsageError} */
async function openSecretsKey(
  dataDir: string,
  { db, name, acceptsNewStore }: { db: Db<CoreDatabaseTables>; name: string; acceptsNewStore: boolean },
): Promise<Uint8Array> {
  const file = join(dataDir, SECRETS_KEY_FILE)
  // A different key is never accepted: another host may use the database with the right one.
  const replaces = acceptsNewStore && !existsSync(file)
  if (!replaces && (await requireUsable(name, needsSecretsKey(db)))) requireKey(dataDir)
  const key = await loadKey(file)
  if (await requireUsable(name, acceptsSecretsKey(db, key, { replaces }))) return key
  throw new UsageError(`${file} is not the key that the secrets in ${name} are encrypted with: restore the right one`)
}

/** Requires the tables of this version; it does not migrate, because an older service may be using the tables. */
async function requireTables(db: Db<CoreDatabaseTables>, name: string): Promise<void> {
  if (await isNewCoreDatabase(db, exporterMigrations)) return migrateCore(db, exporterMigrations)
  const pending = await pendingCoreMigrations(db, exporterMigrations)
  if (pending.length === 0) return
  throw new UsageError(`${name} lacks ${pending.join(', ')}: stop the older service, then run penstock migrate`)
}

async function loadKey(file: string): Promise<Uint8Array> {
  try {
    return await loadSecretsKey(file, randomBytes)
  } catch (error) {
    if (isSystemError(error)) throw new UsageError(`cannot use ${file}: ${systemReason(error)}`)
    throw new UsageError((error as Error).message)
  }
}
