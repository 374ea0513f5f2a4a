import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Core, type CoreTables, loadSecretsKey, migrateCore } from '@penstock/core'
import { openDatabase } from '@penstock/db'
import type { Clock } from '@penstock/runtime'
import { UsageError } from '../environment.ts'
import type { Settings } from '../serve/setting-table.ts'
import { orUnusable } from '../serve/start-error.ts'
import { isSystemError, orUsageError, systemReason } from '../system-error.ts'

export const CORE_FILE = 'core.db'
const SECRETS_KEY_FILE = 'secrets.key'

/** Where the core keeps its tables. What a URL says after the scheme may be a secret. */
export function coreDatabase({ databaseUrl, dataDir }: Settings): { location: string; name: string } {
  return databaseUrl === undefined
    ? { location: join(dataDir, CORE_FILE), name: join(dataDir, CORE_FILE) }
    : { location: databaseUrl, name: 'the database of PENSTOCK_DATABASE_URL' }
}

export interface OpenCore {
  readonly core: Core
  close(): Promise<void>
}

/**
 * The core on its database, migrated.
 *
 * @throws {UsageError} when the directory or the database cannot be used
 */
export async function openCore(settings: Settings, clock: Clock, externalUrl: string): Promise<OpenCore> {
  const { dataDir } = settings
  await orUsageError(
    `cannot use the data directory ${dataDir}`,
    (async () => mkdirSync(dataDir, { recursive: true, mode: 0o700 }))(),
  )
  const { location, name } = coreDatabase(settings)
  const db = await orUnusable(name, (async () => openDatabase<CoreTables>(location))())
  try {
    await orUnusable(name, migrateCore(db))
    const core: Core = {
      db,
      clock,
      randomBytes,
      settings: {
        serviceName: settings.serviceName,
        externalUrl,
        repositoriesDir: join(dataDir, 'repositories'),
        secretsKey: await loadKey(join(dataDir, SECRETS_KEY_FILE)),
        impersonationEnabled: settings['core.impersonationEnabled'],
        personalAccessTokenPrefix: `${settings.serviceName}pat-`,
        oauthTokenLifetimeSeconds: settings['core.oauthTokenLifetimeSeconds'],
      },
    }
    return { core, close: () => db.close() }
  } catch (error) {
    await db.close()
    throw error
  }
}

async function loadKey(file: string): Promise<Uint8Array> {
  try {
    return await loadSecretsKey(file, randomBytes)
  } catch (error) {
    if (isSystemError(error)) throw new UsageError(`cannot use ${file}: ${systemReason(error)}`)
    throw new UsageError((error as Error).message)
  }
}
