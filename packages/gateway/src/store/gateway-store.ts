import { migrate, openSqlite, type SqliteOptions } from '@penstock/db'
import { gatewayMigrations } from './migrations.ts'
import type { GatewayDb, GatewayTables } from './tables.ts'

/** Opens or creates the gateway's SQLite file and migrates its tables. Several processes may do so at the same time. */
export async function openGatewayStore(file: string, survives?: SqliteOptions['survives']): Promise<GatewayDb> {
  const db = openSqlite<GatewayTables>(file, survives && { survives })
  try {
    await migrate(db, gatewayMigrations)
    return db
  } catch (error) {
    await db.close()
    throw error
  }
}
