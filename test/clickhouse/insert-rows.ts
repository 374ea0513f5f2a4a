import type { Chdb } from './chdb.harness.ts'

/** Inserts rows as the collector's exporter writes them. */
export async function insertRows(server: Chdb, table: string, rows: readonly object[]): Promise<void> {
  if (rows.length === 0) return
  await server.run(
    `INSERT INTO ${table} (${Object.keys(rows[0]!).map((column) => `\`${column}\``)}) FORMAT JSONEachRow`,
    rows.map((row) => JSON.stringify(row)).join('\n'),
  )
}
