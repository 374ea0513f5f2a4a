import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  ApiError,
  ConfigError,
  defaultManagementRules,
  type GatewayDb,
  type OperationContext,
  openGatewayStore,
  openPeppers,
  type Peppers,
  propagate,
} from '@penstock/gateway'
import { type Clock, jsonLog, type Log } from '@penstock/runtime'
import { type Command, Option, type OptionValues } from 'commander'
import { prepareDataDirectory } from '../process/data-directory.ts'
import { requireUsable } from '../process/database-error.ts'
import { type Environment, UsageError } from '../process/environment.ts'
import { readSettings } from '../settings/read-settings.ts'
import type { Settings } from '../settings/setting-table.ts'

export const STORE_FILE = 'gateway.db'

export interface GatewayStore {
  readonly db: GatewayDb
  readonly peppers: Peppers
  close(): Promise<void>
}

/**
 * Opens the gateway's database and the keys of its token hashes.
 *
 * @param survives the kind of failure that committed writes survive
 * @throws {UsageError} if the directory or the database cannot be used, or the pepper of its tokens is missing
 */
export async function openStore(
  settings: Settings,
  log: Log,
  survives: 'power-loss' | 'process-loss' = 'power-loss',
): Promise<GatewayStore> {
  const { dataDir } = settings
  prepareDataDirectory(dataDir, log)
  const file = join(dataDir, STORE_FILE)
  const db = await requireUsable(file, openGatewayStore(file, survives))
  try {
    const peppers = await openPeppers(db, {
      configured: settings.peppers,
      passphrase: settings.pepperPassphrase,
      dataDir,
      randomBytes,
    })
    return { db, peppers, close: () => db.close() }
  } catch (error) {
    await db.close()
    throw error instanceof ConfigError ? new UsageError(error.message) : error
  }
}

/** @throws {UsageError} if the directory has no gateway store, so that a mistyped name does not create one */
export function requireStore(flags: OptionValues, { env }: Environment): void {
  const { dataDir } = settingsOf(flags, env)
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
  const { db, peppers, close } = await openStore(settings, log)
  try {
    return await work(
      operatorContext({ db, peppers }, settings, clock, () => propagate({ db, clock, log, planes: () => [] })),
    )
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
