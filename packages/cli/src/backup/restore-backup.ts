import { existsSync, mkdirSync } from 'node:fs'
import { copyFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isNewCoreDatabase } from '@penstock/core'
import { findDamage, openReadOnly } from '@penstock/db'
import { exporterMigrations } from '@penstock/exporter'
import { ConfigError, isUnusedStore, readPlaneFile } from '@penstock/gateway'
import { CORE_FILE, type CoreDatabaseTables, coreDatabase, SECRETS_KEY_FILE } from '../core/open-core.ts'
import { createDataDirectory, RESTORE_DIRECTORY } from '../process/data-directory.ts'
import { requireDatabasesUnused, USE_LOCK_FILE, useDataDirectoryAlone } from '../process/data-directory-use.ts'
import { requireUsable } from '../process/database-error.ts'
import { UsageError } from '../process/environment.ts'
import { gatewayDatabase, openDatabaseOf, openStore, STORE_FILE } from '../serve/operator.ts'
import type { Settings } from '../settings/setting-table.ts'
import { backedUpFiles, PLANE_FILE } from './backed-up-files.ts'
import { type BackupManifest, readManifest } from './backup-manifest.ts'
import { type Restore, stageRepositories } from './stage-repositories.ts'
import { beginSwap, completeSwap, hasBegunSwap, prepareSwap } from './swap-contents.ts'

const parts = [
  { part: 'core', file: CORE_FILE, url: 'databaseUrl', setting: 'PENSTOCK_DATABASE_URL' },
  { part: 'gateway', file: STORE_FILE, url: 'gateway.databaseUrl', setting: 'PENSTOCK_GATEWAY_DATABASE_URL' },
] as const

/**
 * Replaces the contents of the data directory by those of a backup. Everything is copied and checked beside them first; then the
 * former contents are moved into a directory of their own. If the process ends in between, no process starts on the data directory
 * until the restore was repeated.
 *
 * @throws {UsageError} if the backup cannot be restored there; the contents of the data directory are as before then
 */
export async function restoreBackup(restore: Restore): Promise<void> {
  const { settings, directory, log } = restore
  const { dataDir } = settings
  // A swap that has begun is completed even if the backup is not there any more.
  if (!hasBegunSwap(dataDir)) requireSamePlaces(readManifest(directory), settings)
  createDataDirectory(dataDir, log)
  const use = await useDataDirectoryAlone(dataDir)
  try {
    const completed = await completeSwap(dataDir, restore.report)
    const manifest = readManifest(directory)
    if (isDeepStrictEqual(completed, manifest)) return
    await replaceContents(restore, manifest)
  } finally {
    use.release()
  }
}

async function replaceContents(restore: Restore, manifest: BackupManifest): Promise<void> {
  const { settings, directory, clock, log } = restore
  const { dataDir } = settings
  requireSamePlaces(manifest, settings)
  await requireRestoredDumps(manifest, settings)
  const staging = join(dataDir, RESTORE_DIRECTORY)
  await rm(staging, { recursive: true, force: true })
  mkdirSync(staging, { mode: 0o700 })
  try {
    await stageFiles(manifest, directory, dataDir, staging)
    if (manifest.core !== undefined) await stageRepositories(restore, staging, manifest.core)
    if (manifest.gateway !== undefined)
      await (await openStore({ ...settings, dataDir: staging }, { clock, log })).close()
    await rm(join(staging, USE_LOCK_FILE), { force: true })
    requireDatabasesUnused(dataDir)
    await prepareSwap(staging, { dataDir, manifest, time: new Date(clock.nowMs()) })
  } catch (error) {
    await rm(staging, { recursive: true, force: true })
    throw error
  }
  await beginSwap(dataDir)
  await completeSwap(dataDir, restore.report)
}

/** @throws {UsageError} if a part was on SQLite and is on PostgreSQL now, or the reverse */
function requireSamePlaces(manifest: BackupManifest, settings: Settings): void {
  for (const { part, file, url, setting } of parts) {
    const place = manifest[part]
    const isOnServer = settings[url] !== undefined
    if (place === 'file' && isOnServer) throw new UsageError(`the backup contains ${file}, but ${setting} is set`)
    if (place === 'postgresql' && !isOnServer) {
      throw new UsageError(`the ${part} of the backup was on PostgreSQL: set ${setting} to the database with its dump`)
    }
  }
}

/** @throws {UsageError} if a database on PostgreSQL is empty, because its dump must be restored first */
async function requireRestoredDumps(manifest: BackupManifest, settings: Settings): Promise<void> {
  const advice = 'is empty: restore its dump with pg_restore first'
  if (manifest.core === 'postgresql') {
    const { location, name } = coreDatabase(settings)
    const db = openReadOnly<CoreDatabaseTables>(location)
    try {
      if (await requireUsable(name, isNewCoreDatabase(db, exporterMigrations)))
        throw new UsageError(`${name} ${advice}`)
    } finally {
      await db.close()
    }
  }
  if (manifest.gateway === 'postgresql') {
    const db = await openDatabaseOf(settings)
    try {
      if (await isUnusedStore(db)) throw new UsageError(`${gatewayDatabase(settings).name} ${advice}`)
    } finally {
      await db.close()
    }
  }
}

/** Copies databases and small files. Keys that the backup leaves out are those of the data directory. */
async function stageFiles(manifest: BackupManifest, from: string, dataDir: string, staging: string): Promise<void> {
  for (const { part, file } of parts) {
    if (manifest[part] !== 'file') continue
    await copyFile(join(from, file), join(staging, file))
    const damage = findDamage(join(staging, file))
    if (damage !== undefined) throw new UsageError(`${join(from, file)} is damaged: ${damage}`)
  }
  for (const { name, part, isKey } of backedUpFiles) {
    if (manifest[part] === undefined) continue
    const isInBackup = manifest.files.includes(name)
    const isKept = name === PLANE_FILE && isInBackup && (await isSamePlane(from, dataDir))
    const source = isInBackup && !isKept ? from : isKey || isKept ? dataDir : undefined
    if (source !== undefined && existsSync(join(source, name))) await copyFile(join(source, name), join(staging, name))
  }
  if (manifest.core !== undefined && !existsSync(join(staging, SECRETS_KEY_FILE)))
    throw new UsageError(`the backup was made without keys: copy the keys of the service into ${dataDir} first`)
}

/** Returns whether both files record the same plane. The later one is kept then, so that a stricter mode is not forgotten. */
async function isSamePlane(backup: string, dataDir: string): Promise<boolean> {
  const backedUp = await readPlaneFile(backup)
  try {
    return backedUp !== undefined && (await readPlaneFile(dataDir))?.id === backedUp.id
  } catch (error) {
    // A damaged file in the data directory is replaced by that of the backup.
    if (error instanceof ConfigError) return false
    throw error
  }
}
