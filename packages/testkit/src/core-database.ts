import { readFileSync, writeFileSync } from 'node:fs'
import type { CoreTables } from '@penstock/core'
import { isPostgresUrl, openDatabase } from '@penstock/db'
import { CoreSchemas } from './core-schemas.ts'
import { type TemporaryDatabase, temporaryDatabase } from './temporary-database.ts'

let migratedFile: Promise<Buffer> | undefined
let schemas: CoreSchemas | undefined

/**
 * Returns a new database with the core's tables. On SQLite, only the first one in a process is migrated; the others are
 * copies of its file. On a PostgreSQL server of the test run, schemas are used again after their removal.
 */
export async function temporaryCoreDatabase(directory: string): Promise<TemporaryDatabase> {
  const runServerUrl = process.env.PENSTOCK_TEST_RUN_DATABASE_URL
  if (runServerUrl) {
    schemas ??= new CoreSchemas(runServerUrl, migrateAt)
    return schemas.take()
  }
  const database = await temporaryDatabase(directory)
  const { location } = database
  if (isPostgresUrl(location)) {
    await migrateAt(location)
  } else {
    // When the last connection closes, SQLite merges the write-ahead log into the one file.
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
