import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  ApiError,
  ConfigError,
  defaultManagementRules,
  findPepperFile,
  type GatewayDb,
  identifyPlane,
  isUnusedStore,
  type OperationContext,
  openGatewayStore,
  openPeppers,
  type Peppers,
  type PlaneRecord,
  propagate,
  readPlaneFile,
  requireNewStoreAccepted,
  writePlaneFile,
} from '@penstock/gateway'
import { type Clock, jsonLog, type Log } from '@penstock/runtime'
import { type Command, Option, type OptionValues } from 'commander'
import { followClock } from '../core/database-clock.ts'
import { requireNoRestore } from '../process/data-directory.ts'
import { useDataDirectory } from '../process/data-directory-use.ts'
import { requireUsable } from '../process/database-error.ts'
import { type Environment, UsageError } from '../process/environment.ts'
import { readSettings } from '../settings/read-settings.ts'
import type { Settings } from '../settings/setting-table.ts'

export const STORE_FILE = 'gateway.db'
/** The name of the file after its plane was moved to PostgreSQL. */
export const MOVED_STORE_FILE = 'gateway.db.moved'

export interface GatewayStore {
  readonly db: GatewayDb
  readonly peppers: Peppers
  readonly plane: PlaneRecord
  /** The clock of the database if several hosts share it, so that they agree on expiries and on which of them are alive. */
  readonly clock: Clock
  close(): Promise<void>
}

type StoreSettings = Pick<Settings, 'dataDir' | 'gateway.databaseUrl'>

interface StoreOptions {
  /** The kind of failure that committed writes to an SQLite file survive. */
  readonly survives?: 'power-loss' | 'process-loss'
  /** Whether the operator accepts an empty or another store than the one that the data directory was used with. */
  readonly acceptsNewStore?: boolean
}

/** Returns the location of the gateway's database and a name for messages, which never contains the URL. */
export function gatewayDatabase({ dataDir, 'gateway.databaseUrl': url }: StoreSettings): {
  readonly location: string
  readonly name: string
} {
  const file = join(dataDir, STORE_FILE)
  return url === undefined
    ? { location: file, name: file }
    : { location: url, name: 'the database of PENSTOCK_GATEWAY_DATABASE_URL' }
}

/**
 * Opens the gateway's database and the keys of its token hashes.
 *
 * @throws {UsageError} if the directory or the database cannot be used, the pepper of its tokens is missing, or the store that the data
 *   directory was used with is missing
 */
export async function openStore(
  settings: Settings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  options: StoreOptions = {},
): Promise<GatewayStore> {
  const use = await useDataDirectory(settings.dataDir, log)
  try {
    const store = await openStoreIn(settings, { clock, log }, options)
    return { ...store, close: () => store.close().finally(use.release) }
  } catch (error) {
    use.release()
    throw error instanceof ConfigError ? new UsageError(error.message) : error
  }
}

async function openStoreIn(
  settings: Settings,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
  { survives, acceptsNewStore = false }: StoreOptions,
): Promise<GatewayStore> {
  const { dataDir } = settings
  // Read before the store, because a process that starts at the same time creates the store first.
  const evidence = { recorded: await readPlaneFile(dataDir), pepperFile: findPepperFile(dataDir), acceptsNewStore }
  const { name } = gatewayDatabase(settings)
  if (settings['gateway.databaseUrl'] === undefined && !existsSync(join(dataDir, STORE_FILE))) {
    requireNotMoved(dataDir)
    requireNewStoreAccepted(name, evidence)
  }
  const db = await openDatabaseOf(settings, survives)
  try {
    if (!acceptsNewStore) await requireMoved(settings, db)
    const initialMode = settings['gateway.initialMode']
    const plane = await identifyPlane(db, name, evidence, { initialMode, randomBytes, log })
    const peppers = await openPeppers(db, {
      configured: settings.peppers,
      passphrase: settings.pepperPassphrase,
      dataDir,
      randomBytes,
    })
    if (plane.id !== evidence.recorded?.id || plane.mode !== evidence.recorded.mode) {
      await writePlaneFile(dataDir, plane, randomBytes)
    }
    const followed = await requireUsable(name, followClock(db, { clock, log }))
    const close = async () => {
      await followed.end()
      await db.close()
    }
    return { db, peppers, plane, clock: followed.clock, close }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** @throws {UsageError} if the database cannot be used */
export async function openDatabaseOf(
  settings: StoreSettings,
  survives: 'power-loss' | 'process-loss' = 'power-loss',
): Promise<GatewayDb> {
  const { location, name } = gatewayDatabase(settings)
  try {
    return await requireUsable(name, openGatewayStore(location, survives))
  } catch (error) {
    throw error instanceof ConfigError ? new UsageError(`cannot use ${name}: ${error.message}`) : error
  }
}

/** @throws {UsageError} if the plane of the data directory was moved, because a new one would enforce nothing */
function requireNotMoved(dataDir: string): void {
  const moved = join(dataDir, MOVED_STORE_FILE)
  if (existsSync(join(dataDir, STORE_FILE)) || !existsSync(moved)) return
  throw new UsageError(
    `the gateway store of ${dataDir} was moved to PostgreSQL: set PENSTOCK_GATEWAY_DATABASE_URL, or rename ${moved} to go back`,
  )
}

/** @throws {UsageError} if the plane of the data directory was not moved yet, because an empty one would enforce nothing */
async function requireMoved(settings: StoreSettings, db: GatewayDb): Promise<void> {
  const file = join(settings.dataDir, STORE_FILE)
  if (settings['gateway.databaseUrl'] === undefined || !existsSync(file) || !(await isUnusedStore(db))) return
  throw new UsageError(
    `the database of PENSTOCK_GATEWAY_DATABASE_URL is empty, and ${file} is not: run penstock migrate --to with the same URL, or accept the empty one with penstock serve --new-store`,
  )
}

/** @throws {UsageError} if the directory has no gateway store, so that a mistyped name does not create one */
export function requireStore(flags: OptionValues, { env }: Environment): void {
  const settings = settingsOf(flags, env)
  if (settings['gateway.databaseUrl'] === undefined) requireStoreFile(settings)
}

/** @throws {UsageError} if the directory has no gateway store */
export function requireStoreFile({ dataDir }: Pick<Settings, 'dataDir'>): void {
  requireNoRestore(dataDir)
  requireNotMoved(dataDir)
  if (!existsSync(join(dataDir, STORE_FILE))) throw new UsageError(`there is no gateway store in ${dataDir}`)
}

/** Returns the settings, with the data directory of the flag. */
export function settingsOf(flags: OptionValues, env: Environment['env']): Settings {
  const given = flags.dataDir === undefined ? {} : { dataDir: flags.dataDir as string }
  return readSettings(flags.config as string | undefined, env, given)
}

/** Adds the flags of every command that works on the store. */
export function addStoreFlags(command: Command): Command {
  return command
    .addOption(new Option('--config <file>', 'JSON file of settings'))
    .addOption(new Option('--data-dir <directory>', 'directory of the databases (default: ./data)'))
}

/**
 * Runs one management operation as the operator of the machine. A gateway may be running; it applies a change within two
 * seconds.
 *
 * @throws {UsageError} if the operation fails
 */
export async function asOperator<Result>(
  flags: OptionValues,
  { env, clock, stderr }: Environment,
  work: (context: OperationContext) => Promise<Result>,
): Promise<Result> {
  const settings = settingsOf(flags, env)
  const log = jsonLog(stderr, () => clock.nowMs())
  const { db, peppers, clock: shared, close } = await openStore(settings, { clock, log })
  try {
    const apply = () => propagate({ db, clock: shared, log, planes: () => [] })
    return await work(operatorContext({ db, peppers }, settings, shared, apply))
  } catch (error) {
    throw error instanceof ApiError ? new UsageError(withDetails(error)) : error
  } finally {
    await close()
  }
}

/** Returns the context of a local operator, who has the role Admin. */
export function operatorContext(
  { db, peppers }: Pick<GatewayStore, 'db' | 'peppers'>,
  settings: Settings,
  clock: Clock,
  propagate: OperationContext['propagate'],
): OperationContext {
  return {
    db,
    peppers,
    nowMs: () => clock.nowMs(),
    randomBytes,
    actor: { id: 'operator', name: 'command line', role: 'Admin' },
    source: undefined,
    requestId: undefined,
    rules: {
      ...defaultManagementRules,
      tokenLimit: settings['gateway.tokenLimit'],
      uniqueNames: settings['gateway.uniqueTokenNames'],
    },
    propagate,
  }
}

function withDetails({ message, details }: ApiError): string {
  return details === undefined ? message : `${message} ${JSON.stringify(details)}`
}
