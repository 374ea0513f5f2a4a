import { existsSync } from 'node:fs'
import { type Actor, type Core, DomainError, describeStorageFull, type Failure } from '@penstock/core'
import type { Db } from '@penstock/db'
import { jsonLog } from '@penstock/runtime'
import type { OptionValues } from 'commander'
import { requireNoRestore } from '../process/data-directory.ts'
import { type Environment, UsageError } from '../process/environment.ts'
import { readSettings } from '../settings/read-settings.ts'
import type { Settings } from '../settings/setting-table.ts'
import { type CoreDatabaseTables, coreDatabase, openCore } from './open-core.ts'

/**
 * The actor of local commands: a user who can read the data directory may do anything.
 * Records it creates have no author.
 */
export const operator: Actor = { id: 0, username: 'operator', isAdministrator: true, botHome: undefined }

export function settingsOf(flags: OptionValues, env: Environment['env']): Settings {
  const given = flags.dataDir === undefined ? {} : { dataDir: flags.dataDir as string }
  return readSettings(flags.config as string | undefined, env, given)
}

/** @throws {UsageError} if there is no database, so that a mistyped directory name does not create one */
export function requireCoreDatabase(flags: OptionValues, { env }: Environment): void {
  const settings = settingsOf(flags, env)
  requireNoRestore(settings.dataDir)
  const { location, name } = coreDatabase(settings)
  if (settings.databaseUrl === undefined && !existsSync(location)) {
    throw new UsageError(
      `there is no database ${name}; check that --data-dir (or PENSTOCK_DATA_DIR) is that of the service`,
    )
  }
}

/**
 * Runs operations of the core as the operator of the machine. A core may be running on the same database.
 *
 * @param migrates migrates an older database; by default, it is refused
 * @throws {UsageError} if an operation fails
 */
export async function asCoreOperator<Result>(
  flags: OptionValues,
  { env, clock, stderr }: Environment,
  work: (core: Core, db: Db<CoreDatabaseTables>) => Promise<Result>,
  { migrates = false }: { readonly migrates?: boolean } = {},
): Promise<Result> {
  const settings = settingsOf(flags, env)
  const { core, db, close } = await openCore(
    settings,
    { clock, log: jsonLog(stderr, () => clock.nowMs()) },
    {
      externalUrl: settings['core.externalUrl'] ?? '',
      migrates,
    },
  )
  try {
    return await work(core, db)
  } catch (error) {
    throw error instanceof DomainError ? new UsageError(describeFailure(error.failure)) : error
  } finally {
    await close()
  }
}

/** Describes a failure for the user of the command line, with parameters named like their flags. */
export function describeFailure(failure: Failure): string {
  switch (failure.code) {
    case 'parameters':
      return failure.problems
        .map(
          ({ path, problem, names }) => `${(names ?? path).map(flagWord).join(', ')} ${problem.replaceAll('_', ' ')}`,
        )
        .join('; ')
    case 'invalid':
      return Object.entries(failure.fields)
        .flatMap(([field, problems]) =>
          problems.map((problem) => (field === 'base' ? problem : `${flagWord(field)} ${problem}`)),
        )
        .join('; ')
    case 'not_found':
      return `there is no such ${(failure.what ?? 'record').toLowerCase()}`
    case 'refused':
    case 'unprocessable':
      return failure.message
    case 'storage_full':
      return `${describeStorageFull(failure)}${failure.of === undefined ? ' (core.projectStorageBytes)' : ''}`
    case 'forbidden':
    case 'conflict':
      return failure.reason ?? failure.code
    default:
      return failure.code.replaceAll('_', ' ')
  }
}

/** Returns the flag for a parameter: `redirectUri` → `redirect-uri`. */
const flagWord = (name: PropertyKey): string => String(name).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** @throws {UsageError} for the first of the flags `names` that is missing */
export function requireFlags(flags: OptionValues, names: readonly string[]): void {
  const missing = names.find((name) => flags[name.replace(/-./g, (pair) => pair[1]!.toUpperCase())] === undefined)
  if (missing !== undefined) throw new UsageError(`--${missing} is missing; see --help`)
}
