import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openReadOnly, pendingMigrations } from '@penstock/db'
import {
  type GatewayProcessJson,
  type GatewayTables,
  gatewayMigrations,
  listGatewayProcesses,
  requireUsableSchema,
} from '@penstock/gateway'
import type { Finding } from '../core/diagnosis.ts'
import { databaseErrorText } from '../process/database-error.ts'
import type { Settings } from '../settings/setting-table.ts'
import { gatewayDatabase, STORE_FILE } from './operator.ts'

/**
 * Checks the gateway's database on PostgreSQL without changing it, and whether the processes of all gateways on it follow its
 * changes. On SQLite there is nothing to check.
 */
export async function diagnoseGateway(settings: Settings, nowMs: number): Promise<Finding[]> {
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
    const processes = pending.length === 0 ? await listGatewayProcesses(db, nowMs) : []
    return [finding, ...unused, ...processes.map(processFinding)]
  } catch (error) {
    const message = `${name} cannot be used: ${databaseErrorText(error as Error)}`
    const remedy = 'check that the server is running, and that the user name and the password are correct'
    return [{ grade: 'wrong', message, remedy }, ...unused]
  } finally {
    await db.close()
  }
}

const processFinding = ({ id, state, epoch, seen_at }: GatewayProcessJson): Finding => ({
  grade: state === 'following' ? 'ok' : 'note',
  message: `${id} ${stateTexts[state]}: epoch ${epoch}, last sign of life ${seen_at}`,
})

const stateTexts = {
  following: 'follows all changes',
  behind: 'lacks the latest changes',
  silent: 'has ended without stopping, or cannot reach the database',
} as const satisfies Record<GatewayProcessJson['state'], string>
