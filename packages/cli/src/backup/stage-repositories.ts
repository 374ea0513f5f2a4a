import { constants, existsSync, mkdirSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { allDirectories, findBrokenReferences } from '@penstock/core'
import type { Log } from '@penstock/runtime'
import { openCore, repositoriesDirectory } from '../core/open-core.ts'
import { type Environment, UsageError } from '../process/environment.ts'
import type { Settings } from '../settings/setting-table.ts'

export interface Restore {
  readonly settings: Settings
  /** The directory of the backup. */
  readonly directory: string
  readonly clock: Environment['clock']
  readonly log: Log
  report(line: string): Promise<void>
}

const MAX_NAMED = 5

/**
 * Copies the repositories that the restored database names into the staged data directory, and checks them. Opening the core there
 * also checks its key, and updates the tables of an SQLite database.
 *
 * @throws {UsageError} if a repository is missing or damaged
 */
export async function stageRepositories(
  { settings, directory, clock, log, report }: Restore,
  staging: string,
  place: 'file' | 'postgresql',
): Promise<void> {
  const from = repositoriesDirectory({ dataDir: directory })
  const to = repositoriesDirectory({ dataDir: staging })
  mkdirSync(to, { mode: 0o700 })
  const { core, close } = await openCore(
    { ...settings, dataDir: staging },
    { clock, log },
    { externalUrl: '', migrates: place === 'file', mustExist: true },
  )
  const problems: string[] = []
  let count = 0
  try {
    for await (const row of allDirectories(core)) {
      const path = `${row.directory}.git`
      if (!existsSync(join(from, path))) {
        problems.push(`${row.repository} is missing`)
        continue
      }
      mkdirSync(dirname(join(to, path)), { recursive: true, mode: 0o700 })
      await cp(join(from, path), join(to, path), { recursive: true, mode: constants.COPYFILE_FICLONE })
      const broken = await findBrokenReferences(join(to, path))
      if (broken.length > 0) problems.push(`${row.repository} lacks the commit of ${broken[0]}`)
      count += 1
    }
  } finally {
    await close()
  }
  if (problems.length > 0) {
    const named = problems.slice(0, MAX_NAMED).join(', ')
    throw new UsageError(`${problems.length} repositories of the database cannot be restored from ${from}: ${named}`)
  }
  await report(`${count} repositories are complete`)
}
