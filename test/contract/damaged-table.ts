import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import type { GatewayDb } from '../../packages/gateway/src/store/tables.ts'

/** Overwrites the pages of a table and its indexes, as a failing disk would. The other tables stay readable. */
export async function damageTable(db: GatewayDb, path: string, table: string): Promise<void> {
  const inspecting = new Sqlite(path)
  // Moves everything from the write-ahead log to the main file, so that it is read only from there.
  inspecting.pragma('wal_checkpoint(TRUNCATE)')
  const pageBytes = inspecting.pragma('page_size', { simple: true }) as number
  const pages = inspecting.prepare('select rootpage from sqlite_schema where tbl_name = ?').pluck().all(table)
  inspecting.close()
  const file = openSync(path, 'r+')
  for (const page of pages as number[])
    writeSync(file, Buffer.alloc(pageBytes, 0xff), 0, pageBytes, (page - 1) * pageBytes)
  fsyncSync(file)
  closeSync(file)
  const forgetPages = sql`pragma shrink_memory`
  await forgetPages.execute(db.read)
  await db.write((tx) => forgetPages.execute(tx))
}
