import { existsSync, mkdirSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { PRODUCT_VERSION } from '@penstock/converter'
import { allDirectories, copyRepository, DomainError } from '@penstock/core'
import { backup, openReadOnly } from '@penstock/db'
import type { Log } from '@penstock/runtime'
import { CORE_FILE, type CoreDatabaseTables, coreDatabase, openCore, repositoriesDirectory } from '../core/open-core.ts'
import { type Environment, UsageError } from '../process/environment.ts'
import { STORE_FILE } from '../serve/operator.ts'
import type { Settings } from '../settings/setting-table.ts'
import { backedUpFiles } from './backed-up-files.ts'
import { type BackupManifest, FORMAT, writeManifest } from './backup-manifest.ts'

interface Backup {
  readonly settings: Settings
  /** The new directory. */
  readonly directory: string
  readonly includesKeys: boolean
  readonly clock: Environment['clock']
  readonly log: Log
  report(line: string): Promise<void>
}

/** The names of the repositories that are not in a backup. It is complete if there are none. */
interface LeftOut {
  /** Those that were removed while the backup was made. */
  readonly removed: readonly string[]
  /** Those without files in the data directory. */
  readonly missing: readonly string[]
}

/**
 * Copies the data directory into a new directory while it is in use: first the databases, each as it was at one moment, then keys and
 * repositories. So every row has its repository; a repository may have commits that are newer than the rows.
 *
 * @throws {UsageError} if there is nothing to back up
 */
export async function createBackup(task: Backup): Promise<LeftOut> {
  const { settings, directory, report } = task
  const { dataDir } = settings
  const core = placeOf(dataDir, CORE_FILE, settings.databaseUrl)
  const gateway = placeOf(dataDir, STORE_FILE, settings['gateway.databaseUrl'])
  if (core === undefined && gateway === undefined) throw new UsageError(`there is no database in ${dataDir}`)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  for (const [name, place] of [
    [CORE_FILE, core],
    [STORE_FILE, gateway],
  ] as const) {
    if (place !== 'file') continue
    await backup(join(dataDir, name), join(directory, name))
    await report(`${join(dataDir, name)} → ${join(directory, name)}`)
  }
  const files = backedUpFiles
    .filter(({ name, isKey }) => (task.includesKeys || !isKey) && existsSync(join(dataDir, name)))
    .map(({ name }) => name)
  for (const name of files) {
    await copyFile(join(dataDir, name), join(directory, name))
    await report(`${join(dataDir, name)} → ${join(directory, name)}`)
  }
  const { count, ...leftOut } =
    core === undefined ? { count: 0, removed: [], missing: [] } : await copyRepositories(task, core)
  if (leftOut.removed.length + leftOut.missing.length > 0) return leftOut
  await writeManifest(directory, {
    format: FORMAT,
    version: PRODUCT_VERSION,
    createdAt: new Date(task.clock.nowMs()).toISOString(),
    ...(core && { core }),
    ...(gateway && { gateway }),
    files,
    repositories: count,
  })
  return leftOut
}

const placeOf = (dataDir: string, file: string, url: string | undefined): BackupManifest['core'] =>
  url !== undefined ? 'postgresql' : existsSync(join(dataDir, file)) ? 'file' : undefined

async function copyRepositories(
  { settings, directory, clock, log, report }: Backup,
  place: 'file' | 'postgresql',
): Promise<LeftOut & { readonly count: number }> {
  const target = repositoriesDirectory({ dataDir: directory })
  mkdirSync(target, { mode: 0o700 })
  const { core, close } = await openCore(
    settings,
    { clock, log },
    { externalUrl: '', migrates: false, mustExist: true },
  )
  // The rows of the copy decide which repositories the backup needs, not those of the service, which may have changed since.
  const copied = place === 'file' ? openReadOnly<CoreDatabaseTables>(join(directory, CORE_FILE)) : undefined
  const removed: string[] = []
  const missing: string[] = []
  let count = 0
  try {
    for await (const { repository, directory: name } of allDirectories({ db: copied ?? core.db })) {
      const to = join(target, `${name}.git`)
      mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
      try {
        if (await copyRepository(core, repository, to)) count += 1
        else removed.push(repository)
      } catch (error) {
        if (!(error instanceof DomainError && error.failure.code === 'unavailable')) throw error
        missing.push(repository)
      }
    }
  } finally {
    await copied?.close()
    await close()
  }
  await report(
    `${repositoriesDirectory(settings)} → ${target}: ${count} repositories of ${coreDatabase(settings).name}`,
  )
  return { count, removed, missing }
}
