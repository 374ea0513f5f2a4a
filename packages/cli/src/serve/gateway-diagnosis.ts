import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openReadOnly, pendingMigrations } from '@penstock/db'
import { type GatewayTables, gatewayMigrations, requireUsableSchema } from '@penstock/gateway'
import type { Finding } from '../core/diagnosis.ts'
import { databaseErrorText } from '../process/database-error.ts'
import type { Settings } from '../settings/setting-table.ts'
import { gatewayDatabase, STORE_FILE } from './operator.ts'

/** Checks the gateway's database on PostgreSQL without changing it. On SQLite there is nothing to check. */
export async function diagnoseGateway(settings: Settings): Promise<Finding[]> {
  if (settings['gateway.databaseUrl'] === undefined) return []
  const { location, name } = gatewayDatabase(settings)
  const db = openReadOnly<GatewayTables>(location)
  const file = join(settings.dataDir, STORE_FILE)
  const unused: Finding[] = existsSync(file)
    ? [
        {
          grade: 'note',
          message: `${file} is not used, because the gateway is on PostgreSQL`,
          remedy: 'penstock migrate --to moves it into an empty database; else remove it',
        },
      ]
    : []
  try {
    await requireUsableSchema(db)
    const pending = await pendingMigrations(db, gatewayMigrations)
    const finding: Finding =
      pending.length === 0
        ? { grade: 'ok', message: `${name} is up to date` }
        : { grade: 'note', message: `${name} lacks ${pending.join(', ')}; the next start of the gateway adds them` }
    return [finding, ...unused]
  } catch (error) {
    const message = `${name} cannot be used: ${databaseErrorText(error as Error)}`
    const remedy = 'check that the server is running, and that the user name and the password are correct'
    return [{ grade: 'wrong', message, remedy }, ...unused]
  } finally {
    await db.close()
  }
}
