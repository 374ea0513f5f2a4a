import { ConfigError } from '../contract/config-error.ts'
import type { GatewayDb } from './tables.ts'

/** The table that a database has while a plane is moved into it. */
export const UNFINISHED_MOVE = 'unfinished_move'

/** Returns the names of all tables in the schema, including those about migrations. */
export async function listTables(db: Pick<GatewayDb, 'read'>): Promise<readonly string[]> {
  const tables = await db.read.introspection.getTables({ withInternalKyselyTables: true })
  return tables.map(({ name }) => name)
}

/** @throws ConfigError if there are tables, but not those of a gateway */
export function requireNoForeignTable(names: readonly string[]): void {
  if (names.length === 0 || names.includes('ingest_tokens') || names.includes(UNFINISHED_MOVE)) return
  const message = `The database has tables of something else, such as ${names[0]}`
  throw new ConfigError(`${message}: the gateway needs a database or a schema of its own`)
}
