import { existsSync } from 'node:fs'
import { link, mkdtemp, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { isPostgresUrl } from './open-database.ts'

/**
 * Copies the SQLite file as it is now, while it is in use, to the new file `to`, which is there when it is complete, and
 * never before; only its owner may read it.
 *
 * @throws when there is no such database, when it is one of PostgreSQL, and when `to` exists
 */
export async function backup(location: string, to: string): Promise<void> {
  if (isPostgresUrl(location)) {
    throw new Error(
      'PostgreSQL has its own backup: pg_dump --format=custom --file=FILE URL, to be restored with pg_restore',
    )
  }
  if (existsSync(to)) throw new Error(`${to} exists already`)
  const database = new Sqlite(location, { fileMustExist: true })
  // Of nobody else's reading until it has its name.
  const aside = await mkdtemp(`${to}.partial-`).catch((error) => {
    database.close()
    throw error
  })
  try {
    const copy = join(aside, 'copy')
    await (await open(copy, 'wx', 0o600)).close()
    // What is read in one transaction stays as it is. Without it, the copy would begin anew after each write.
    database.exec('begin')
    database.prepare('select count(*) from sqlite_schema').get()
    await database.backup(copy)
    await flush(copy)
    await link(copy, to)
    await flush(dirname(to))
  } finally {
    database.close()
    await rm(aside, { recursive: true, force: true })
  }
}

async function flush(path: string): Promise<void> {
  const handle = await open(path)
  await handle.sync().finally(() => handle.close())
}
