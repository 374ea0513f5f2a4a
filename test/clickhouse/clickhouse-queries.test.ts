import { decodeRequest } from '@penstock/otlp'
import { ManualClock } from '@penstock/testkit'
import { ClickHouse } from '../../packages/observe/src/clickhouse/clickhouse-client.ts'
import { clickHouseQueries } from '../../packages/observe/src/clickhouse/clickhouse-queries.ts'
import { type Body, type FilledStore, observeQueriesCase } from '../../packages/observe/src/observe-queries.case.ts'
import { filledStore } from '../../packages/observe/src/one-thread-store.harness.ts'
import { Chdb, describeWithChdb } from './chdb.harness.ts'
import { exporterRows } from './exporter-rows.ts'
import { exporterTables } from './exporter-tables.ts'
import { withoutLosses } from './losses.ts'

const NOW_MS = 1_767_225_600_000

async function open(bodies: readonly Body[]): Promise<FilledStore> {
  const server = await Chdb.start()
  for (const statement of exporterTables) await server.run(statement)
  for (const { signal, json } of bodies) {
    for (const [table, rows] of exporterRows(signal, decodeRequest(signal, Buffer.from(json), 'json'))) {
      await server.run(
        `INSERT INTO ${table} (${Object.keys(rows[0]!).map((column) => `\`${column}\``)}) FORMAT JSONEachRow`,
        rows.map((row) => JSON.stringify(row)).join('\n'),
      )
    }
  }
  const db = new ClickHouse(server.address)
  return {
    queries: clickHouseQueries({ db, nowMs: () => NOW_MS }),
    async close() {
      await db.close()
      await server.close()
    },
  }
}

describeWithChdb('with the engine of ClickHouse', () => {
  observeQueriesCase('the tables of the collector', {
    open,
    reference: (bodies) => filledStore(new ManualClock(NOW_MS), bodies),
    normalised: withoutLosses,
  })
})
