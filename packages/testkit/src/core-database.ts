import { readFileSync, writeFileSync } from 'node:fs'
import type { CoreTables } from '@penstock/core'
import { isPostgresUrl, openDatabase } from '@penstock/db'
import { type TemporaryDatabase, temporaryDatabase } from './temporary-database.ts'

let migratedFile: Promise<Buffer> | undefined

/** A new database with the core's tables in it. On SQLite only the first one of a process is migrated: the others are copies of its file. */
export async function temporaryCoreDatabase(directory: string): Promise<TemporaryDatabase> {
  const database = await temporaryDatabase(directory)
  const { location } = database
  if (isPostgresUrl(location)) {
    await migrateAt(location)
  } else {
    // Whoever closes an SQLite file last leaves all of it in that one file.
    migratedFile ??= migrateAt(location).then(() => readFileSync(location))
    writeFileSync(location, await migratedFile)
  }
  return database
}

async function migrateAt(location: string): Promise<void> {
  const { migrateCore } = await import('@penstock/core')
  const db = openDatabase<CoreTables>(location)
  await migrateCore(db).finally(() => db.close())
}
