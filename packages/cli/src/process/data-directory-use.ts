import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isInUse, lockExclusively, lockShared, type UseLock } from '@penstock/db'
import type { Log } from '@penstock/runtime'
import { prepareDataDirectory, requireNoRestore } from './data-directory.ts'
import { requireUsable } from './database-error.ts'
import { UsageError } from './environment.ts'

/** The file that every process on the data directory locks while it uses it, wherever its databases are. */
export const USE_LOCK_FILE = 'penstock.lock'

const databases = ['core.db', 'gateway.db', 'observe.db']

/**
 * Prepares the data directory for this process, and locks it together with the other processes on it, so that nothing is restored
 * into it until the lock is released.
 *
 * @throws {UsageError} as `prepareDataDirectory`, and while a backup is restored into it
 */
export async function useDataDirectory(dataDir: string, log: Log): Promise<UseLock> {
  prepareDataDirectory(dataDir, log)
  const file = join(dataDir, USE_LOCK_FILE)
  const lock = await requireUsable(file, (async () => lockShared(file))())
  if (lock === undefined)
    throw new UsageError(`a backup is being restored into ${dataDir}: start again when it is done`)
  try {
    // A restore may have begun, and ended early, since the directory was prepared.
    requireNoRestore(dataDir)
    return lock
  } catch (error) {
    lock.release()
    throw error
  }
}

/**
 * Locks the data directory, which must exist, as its only user.
 *
 * @throws {UsageError} if another process uses the data directory
 */
export async function useDataDirectoryAlone(dataDir: string): Promise<UseLock> {
  // Processes of earlier versions do not lock the directory.
  requireDatabasesUnused(dataDir)
  const file = join(dataDir, USE_LOCK_FILE)
  const lock = await requireUsable(file, (async () => lockExclusively(file))())
  if (lock === undefined) throw inUseError(dataDir, dataDir)
  return lock
}

/** @throws {UsageError} if another process has a database of the data directory open */
export function requireDatabasesUnused(dataDir: string): void {
  const used = databases.map((name) => join(dataDir, name)).find((file) => existsSync(file) && isInUse(file))
  if (used !== undefined) throw inUseError(used, dataDir)
}

const inUseError = (used: string, dataDir: string): UsageError =>
  new UsageError(`${used} is in use: stop every process of penstock on ${dataDir} first`)
