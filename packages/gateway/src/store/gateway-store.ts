import { isPostgresUrl, migrate, openPostgres, openSqlite, type SqliteOptions } from '@penstock/db'
import { ConfigError } from '../contract/config-error.ts'
import { gatewayMigrations } from './migrations.ts'
import { listTables, requireNoForeignTable, UNFINISHED_MOVE } from './store-tables.ts'
import type { GatewayDb, GatewayTables } from './tables.ts'

/**
 * On PostgreSQL, statements of the gateway are short, so a server that is silent for longer is away. Only the management API reads
 * more than once a second.
 */
const postgresOptions = { statementLimitMs: 5_000, readingConnections: 4 }

/**
 * Opens the gateway's database, an SQLite file or a PostgreSQL URL, and migrates its tables. Several processes may do so at
 * the same time.
 *
 * @param survives the kind of failure that committed writes to an SQLite file survive
 * @throws ConfigError if the schema of a PostgreSQL database cannot be that of a gateway
 */
export async function openGatewayStore(location: string, survives?: SqliteOptions['survives']): Promise<GatewayDb> {
  const db = connectToStore(location, survives)
  try {
    if (isPostgresUrl(location)) await requireUsableSchema(db)
    await migrate(db, gatewayMigrations)
    return db
  } catch (error) {
    await db.close()
    throw error
  }
}

/**
 * A poll and its retry on a new connection must end within the two seconds of T-13, also if a firewall has dropped the
 * connection and nothing answers on it.
 */
const pollingOptions = { statementLimitMs: 500, lockLimitMs: 500, silenceLimitMs: 300, readingConnections: 1 }

/** Opens a PostgreSQL database for polls, which must not wait long for an answer. Its tables must be up to date. */
export const openForPolling = (url: string): GatewayDb => openPostgres<GatewayTables>(url, pollingOptions)

/** Opens the database without looking at its tables. */
export const connectToStore = (location: string, survives?: SqliteOptions['survives']): GatewayDb =>
  isPostgresUrl(location)
    ? openPostgres<GatewayTables>(location, postgresOptions)
    : openSqlite<GatewayTables>(location, { searchesInThreads: true, ...(survives && { survives }) })

/** @throws ConfigError if the schema of a PostgreSQL database cannot be that of a gateway */
export async function requireUsableSchema(db: Pick<GatewayDb, 'read'>): Promise<void> {
  const names = await listTables(db)
  requireNoForeignTable(names)
  if (names.includes(UNFINISHED_MOVE)) {
    throw new ConfigError('A move into this database is not finished: run the same penstock migrate --to again')
  }
}
