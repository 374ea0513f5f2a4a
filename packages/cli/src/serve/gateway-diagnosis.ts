import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openReadOnly, pendingMigrations, schemaVersion } from '@penstock/db'
import {
  ConfigError,
  type FastPathState,
  fastPathState,
  findPepperFile,
  type GatewayDb,
  type GatewayProcessJson,
  type GatewayTables,
  gatewayMigrations,
  listGatewayProcesses,
  type PlaneEvidence,
  readPlaneFile,
  requireNewStoreAccepted,
  requireOwnStore,
  requireUsableSchema,
} from '@penstock/gateway'
import type { Finding } from '../core/diagnosis.ts'
import { databaseErrorText } from '../process/database-error.ts'
import type { Settings } from '../settings/setting-table.ts'
import { gatewayDatabase, STORE_FILE } from './operator.ts'

const fastPathFindings = {
  on: { grade: 'ok', message: 'the fast path of OTLP/HTTP is on' },
  off: {
    grade: 'ok',
    message: 'the fast path of OTLP/HTTP is off: gateway.fastPath or gateway.http1FastPath is false',
  },
  without_shared_buffer: {
    grade: 'note',
    message: 'this Node lacks parts that the fast path of OTLP/HTTP uses, so each request takes more time',
    remedy: 'use a version of Node that CI tests',
  },
} as const satisfies Record<FastPathState, Finding>

/** Returns whether the gateway would read OTLP/HTTP by its fast path with this Node. */
export const diagnoseFastPath = async (settings: Settings): Promise<Finding> =>
  fastPathFindings[
    await fastPathState({
      fastPath: settings['gateway.fastPath'],
      http1FastPath: settings['gateway.http1FastPath'],
      sharedReadBuffer: settings['gateway.sharedReadBuffer'],
    })
  ]

/**
 * Checks the gateway's database without changing it. On PostgreSQL, it also checks whether the processes of all gateways on it
 * follow its changes.
 */
export async function diagnoseGateway(settings: Settings, nowMs: number): Promise<Finding[]> {
  const { location, name } = gatewayDatabase(settings)
  if (settings['gateway.databaseUrl'] === undefined) return diagnoseFile(settings, location)
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
    const finding = await schemaFinding(db, name)
    if (finding.grade !== 'ok') return [finding, ...unused]
    const plane = await planeFindings(settings, (evidence) => requireOwnStore(db, name, evidence))
    return [finding, ...plane, ...unused, ...(await listGatewayProcesses(db, nowMs)).map(processFinding)]
  } catch (error) {
    const message = `${name} cannot be used: ${databaseErrorText(error as Error)}`
    const remedy = 'check that the server is running, and that the user name and the password are correct'
    return [{ grade: 'wrong', message, remedy }, ...unused]
  } finally {
    await db.close()
  }
}

async function diagnoseFile(settings: Settings, file: string): Promise<Finding[]> {
  if (!existsSync(file)) return planeFindings(settings, async (evidence) => requireNewStoreAccepted(file, evidence))
  const opened = (async () => openReadOnly<GatewayTables>(file))()
  try {
    const db = await opened
    const finding = await schemaFinding(db, file)
    if (finding.grade !== 'ok') return [finding]
    return [finding, ...(await planeFindings(settings, (evidence) => requireOwnStore(db, file, evidence)))]
  } catch (error) {
    const message = `${file} cannot be used: ${databaseErrorText(error as Error)}`
    return [{ grade: 'wrong', message, remedy: 'restore a backup, or start with another data directory' }]
  } finally {
    await opened.then((db) => db.close()).catch(() => {})
  }
}

/** Returns the finding if the data directory was used with another store, or its record of the store is damaged: the gateway would not start. */
async function planeFindings(
  { dataDir }: Settings,
  check: (evidence: PlaneEvidence) => Promise<void>,
): Promise<Finding[]> {
  try {
    const recorded = await readPlaneFile(dataDir)
    await check({ recorded, pepperFile: findPepperFile(dataDir), acceptsNewStore: false })
    return []
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    return [{ grade: 'wrong', message: error.message }]
  }
}

async function schemaFinding(db: Pick<GatewayDb, 'read'>, name: string): Promise<Finding> {
  const pending = await pendingMigrations(db, gatewayMigrations)
  return pending.length === 0
    ? { grade: 'ok', message: `${name} is up to date: its schema is ${await schemaVersion(db)}` }
    : { grade: 'note', message: `${name} lacks ${pending.join(', ')}; the next start of the gateway adds them` }
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
