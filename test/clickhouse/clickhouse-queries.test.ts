import { decodeRequest } from '@penstock/otlp'
import { ManualClock } from '@penstock/testkit'
import { expect } from 'vitest'
import { clickHouseQueries } from '../../packages/observe/src/clickhouse/clickhouse-queries.ts'
import { ClickHouse, fillBounds } from '../../packages/observe/src/clickhouse/schema/clickhouse-client.ts'
import { createViews } from '../../packages/observe/src/clickhouse/views/create-views.ts'
import { findViews, readyViews } from '../../packages/observe/src/clickhouse/views/ready-views.ts'
import type { Body } from '../../packages/observe/src/observe-bodies.harness.ts'
import { filledStore } from '../../packages/observe/src/one-thread-store.harness.ts'
import { type FilledStore, observeQueriesCase } from '../../packages/observe/src/ports/observe-queries.case.ts'
import { Chdb, describeWithChdb } from './chdb.harness.ts'
import { exporterRows } from './exporter-rows.ts'
import { exporterTables } from './exporter-tables.ts'
import { insertRows } from './insert-rows.ts'
import { withoutLosses } from './losses.ts'

const NOW_MS = 1_767_225_600_000

/** Opens a store with rows that were inserted before and after `between`. */
const openWith =
  (between: (db: ClickHouse) => Promise<void>) =>
  async (bodies: readonly Body[]): Promise<FilledStore> => {
    const server = await Chdb.start()
    for (const statement of exporterTables) await server.run(statement)
    const halves: [Map<string, object[]>, Map<string, object[]>] = [new Map(), new Map()]
    for (const { signal, json } of bodies) {
      for (const [table, rows] of exporterRows(signal, decodeRequest(signal, Buffer.from(json), 'json'))) {
        // Spans of one trace are in both halves.
        for (const [at, half] of halves.entries())
          half.set(
            table,
            rows.filter((_, index) => index % 2 === at),
          )
      }
    }
    for (const [table, rows] of halves[0]) await insertRows(server, table, rows)
    const owner = new ClickHouse(server.address, fillBounds)
    await between(owner)
    for (const [table, rows] of halves[1]) await insertRows(server, table, rows)
    const db = new ClickHouse(server.readOnlyAddress)
    return {
      queries: clickHouseQueries({ db, nowMs: () => NOW_MS }),
      async close() {
        await owner.close()
        await db.close()
        await server.close()
      },
    }
  }

describeWithChdb('with the engine of ClickHouse', () => {
  observeQueriesCase('the tables of the collector', {
    open: openWith(async () => {}),
    reference: (bodies) => filledStore(new ManualClock(NOW_MS), bodies),
    normalised: withoutLosses,
  })

  observeQueriesCase('views, which are filled in part, and in part by later inserts', {
    open: openWith(async (db) => {
      await createViews({
        db,
        clock: new ManualClock(NOW_MS),
        signal: new AbortController().signal,
        settleMs: 0,
        rowsPerStep: 40,
      })
      expect(readyViews(await findViews(db))).toMatchObject({ hasPipelines: true, hasListKeys: true })
    }),
    reference: (bodies) => filledStore(new ManualClock(NOW_MS), bodies),
    normalised: withoutLosses,
  })
})
