import { existsSync } from 'node:fs'
import { link, mkdtemp, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { isPostgresUrl } from './open-database.ts'

/**
 * Copies an SQLite file to the new file `to` while it is in use. The copy is a snapshot of the moment the backup began.
 * `to` appears only when the copy is complete, and only its owner can read it.
 *
 * @throws if the database does not exist, if it is a PostgreSQL database, or if `to` exists
 */
export async function backup(location: string, to: string): Promise<void> {
  if (isPostgresUrl(location)) {
    throw new Error(
      'PostgreSQL databases are backed up with pg_dump --format=custom --file=FILE URL, and restored with pg_restore',
    )
  }
  if (existsSync(to)) throw new Error(`${to} already exists`)
  const database = new Sqlite(location, { fileMustExist: true })
  // mkdtemp makes a directory that only its owner can read.
  const partialDirectory = await mkdtemp(`${to}.partial-`).catch((error) => {
    database.close()
    throw error
  })
  try {
    const copy = join(partialDirectory, 'copy')
    await (await open(copy, 'wx', 0o600)).close()
    // The open transaction keeps the snapshot. Without it, SQLite would restart the copy after each write.
    database.exec('begin')
    database.prepare('select count(*) from sqlite_schema').get()
    await database.backup(copy)
    withoutLog(copy)
    await flush(copy)
    await link(copy, to)
    await flush(dirname(to))
  } finally {
    database.close()
    await rm(partialDirectory, { recursive: true, force: true })
  }
}

/** Ends the mode with a log, in which even a reader writes files beside the copy. Opening it for use starts that mode again. */
function withoutLog(file: string): void {
  const copy = new Sqlite(file, { fileMustExist: true })
  try {
    copy.pragma('journal_mode = delete')
  } finally {
    copy.close()
  }
}

async function flush(path: string): Promise<void> {
  const handle = await open(path)
  await handle.sync().finally(() => handle.close())
}
