import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import type { GatewayDb } from '../../packages/gateway/src/operation-context.ts'

/** Overwrites a table and its indexes where they lie, as a failing disk does; the other tables can be read as before. */
export async function damageTable(db: GatewayDb, path: string, table: string): Promise<void> {
  const inspecting = new Sqlite(path)
  // Everything into the main file, so that it is the only place to read from.
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
