import { join } from 'node:path'
import { contentTypes, signals } from '@penstock/otlp'
import { ManualClock } from '@penstock/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { clickHouseQueries } from '../../packages/observe/src/clickhouse/clickhouse-queries.ts'
import {
  ClickHouse,
  type ClickHouseAddress,
  fillBounds,
} from '../../packages/observe/src/clickhouse/schema/clickhouse-client.ts'
import { metricTables } from '../../packages/observe/src/clickhouse/schema/exporter-schema.ts'
import { createViews } from '../../packages/observe/src/clickhouse/views/create-views.ts'
import { findViews, readyViews } from '../../packages/observe/src/clickhouse/views/ready-views.ts'
import type { Body } from '../../packages/observe/src/observe-bodies.harness.ts'
import { filledStore } from '../../packages/observe/src/one-thread-store.harness.ts'
import { type FilledStore, observeQueriesCase } from '../../packages/observe/src/ports/observe-queries.case.ts'
import { startCollector } from '../collector/collector.ts'
import { describeWithCollector } from '../collector/collector-suite.ts'
import { ProcessGateway } from '../gateway/process-gateway.ts'
import { Chdb, describeWithChdb } from './chdb.harness.ts'
import { exporterTables } from './exporter-tables.ts'
import { withoutLosses } from './losses.ts'

const NOW_MS = 1_767_225_600_000
const DATABASE = 'otel'
const config = join(import.meta.dirname, '../../collector-config/clickhouse.yaml')

/** Starts the collector of collector-config/clickhouse.yaml, which creates the tables in the database. */
const startExporter = (server: Chdb) =>
  startCollector({
    config: { file: config },
    env: {
      CLICKHOUSE_ENDPOINT: `${server.address.url}?compress=none`,
      CLICKHOUSE_DATABASE: DATABASE,
      CLICKHOUSE_USERNAME: server.address.username!,
      CLICKHOUSE_PASSWORD: server.address.password!,
      // The telemetry of the fixtures is older than any age that a server would keep.
      CLICKHOUSE_TTL: '0s',
    },
  })

const databaseOf = (server: Chdb): ClickHouseAddress => ({ ...server.address, database: DATABASE })

/** Opens a store with bodies that went through the gateway, the collector and its exporter, after `prepare`. */
const openAfter =
  (prepare: (db: ClickHouse) => Promise<void>) =>
  async (bodies: readonly Body[]): Promise<FilledStore> => {
    const server = await Chdb.start()
    const collector = await startExporter(server)
    const owner = new ClickHouse(databaseOf(server), fillBounds)
    await prepare(owner)
    const gateway = await ProcessGateway.start({ upstream: collector.httpEndpoint })
    for (const { signal, json } of bodies) {
      const response = await fetch(gateway.otlpUrl + signals[signal].httpPath, {
        method: 'POST',
        headers: { 'Content-Type': contentTypes.json },
        body: json,
      })
      expect([response.status, await response.text()]).toEqual([200, '{}'])
    }
    const db = new ClickHouse({ ...server.readOnlyAddress, database: DATABASE })
    return {
      queries: clickHouseQueries({ db, nowMs: () => NOW_MS }),
      async close() {
        await owner.close()
        await db.close()
        await gateway[Symbol.asyncDispose]()
        await collector.stop()
        await server.close()
      },
    }
  }

/** Returns an answer without what the tables do not hold, which includes the fractions of seconds in the times of points. */
function withoutLossesOfReleases(answer: unknown): unknown {
  const common = withoutLosses(answer)
  const hasPoints =
    typeof answer === 'object' && answer !== null && Array.isArray((answer as { series?: unknown }).series)
  if (!hasPoints) return common
  const times = /("(?:t|startT)imeUnixNano":"\d+)\d{9}"/g
  return JSON.parse(JSON.stringify(common).replace(times, '$1000000000"'))
}

/** Returns the type of each column of the exporter's tables, by `table.column`. Computed columns, which it does not write, are left out. */
async function columnTypes(db: ClickHouse): Promise<Map<string, string>> {
  const rows = await db.rows<{ readonly column: string; readonly type: string }>(
    `SELECT concat(table, '.', name) AS column, type FROM system.columns
     WHERE database = currentDatabase() AND table LIKE 'otel\\_%' AND table NOT LIKE '%\\_mv' AND default_kind != 'MATERIALIZED'`,
  )
  return new Map(rows.map(({ column, type }) => [column, type]))
}

/** The columns that the exporter creates otherwise than exporter-tables.ts, which has those of other versions. */
const changedColumns: Readonly<Record<string, string | undefined>> = {
  'otel_logs.TimestampTime': undefined,
  'otel_traces_trace_id_ts.Start': 'DateTime',
  'otel_traces_trace_id_ts.End': 'DateTime',
  ...Object.fromEntries(
    Object.values(metricTables).flatMap((table) => [
      [`${table}.MetricName`, 'LowCardinality(String)'],
      [`${table}.StartTimeUnix`, 'DateTime'],
      [`${table}.TimeUnix`, 'DateTime'],
      // Points of a summary have no exemplars.
      ...(table === metricTables.summary ? [] : [[`${table}.Exemplars.TimeUnix`, 'Array(DateTime)']]),
    ]),
  ),
}

describeWithChdb('the exporter of the collector', () => {
  describeWithCollector('writes to the engine of ClickHouse', () => {
    test('it creates the columns of exporter-tables.ts, apart from known changes', { timeout: 60_000 }, async () => {
      const server = await Chdb.start()
      onTestFinished(() => server.close())
      const collector = await startExporter(server)
      onTestFinished(() => collector.stop())
      for (const statement of exporterTables) await server.run(statement)
      const [created, written] = [new ClickHouse(databaseOf(server)), new ClickHouse(server.address)]
      onTestFinished(async () => {
        await created.close()
        await written.close()
      })
      const [actual, known] = [await columnTypes(created), await columnTypes(written)]
      const columns = [...new Set([...actual.keys(), ...known.keys()])].sort()
      const changes = columns
        .filter((column) => actual.get(column) !== known.get(column))
        .map((column) => [column, actual.get(column)])
      expect(known.size).toBeGreaterThan(100)
      expect(Object.fromEntries(changes)).toEqual(changedColumns)
    })

    observeQueriesCase('what the gateway forwarded', {
      open: openAfter(async () => {}),
      reference: (bodies) => filledStore(new ManualClock(NOW_MS), bodies),
      normalised: withoutLossesOfReleases,
    })

    observeQueriesCase('the same with views', {
      open: openAfter(async (db) => {
        const clock = new ManualClock(NOW_MS)
        await createViews({ db, clock, signal: new AbortController().signal, settleMs: 0 })
        expect(readyViews(await findViews(db))).toMatchObject({ hasPipelines: true, hasListKeys: true })
      }),
      reference: (bodies) => filledStore(new ManualClock(NOW_MS), bodies),
      normalised: withoutLossesOfReleases,
    })
  })
})
