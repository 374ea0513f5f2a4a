// The entry point of the thread that answers queries from ClickHouse. Answers are read, built and written as JSON here, so that a large
// one does not delay the clients of the gateway.
import { type Log, systemClock } from '@penstock/runtime'
import {
  ClickHouse,
  type ClickHouseAddress,
  ClickHouseUnavailable,
  fillBounds,
} from './clickhouse/clickhouse-client.ts'
import { clickHouseQueries } from './clickhouse/clickhouse-queries.ts'
import { UnknownSchema } from './clickhouse/exporter-schema.ts'
import { ViewMaintenance } from './clickhouse/view-maintenance.ts'
import { runStoreQuery, type StoreQuery, type StoreReply, transferredWith } from './store-queries.ts'
import { serveThread } from './thread-messages.ts'

interface ThreadData {
  readonly address: ClickHouseAddress
  readonly createViews: boolean
}

serveThread<ThreadData, StoreQuery, StoreReply>(({ address, createViews }, log) => {
  const db = new ClickHouse(address)
  const maintenance = createViews ? startMaintenance(address, log) : undefined
  const queries = clickHouseQueries({
    db,
    nowMs: () => systemClock.nowMs(),
    viewState: () => maintenance?.state ?? { kind: 'not_created' },
  })
  return {
    answer: (query) => runStoreQuery(queries, query),
    isUnavailable: (error) => error instanceof ClickHouseUnavailable || error instanceof UnknownSchema,
    transferred: transferredWith,
    async close() {
      await maintenance?.close()
      await db.close()
    },
  }
})

function startMaintenance(address: ClickHouseAddress, log: Log): ViewMaintenance {
  const db = new ClickHouse(address, fillBounds)
  const maintenance = new ViewMaintenance({ db, clock: systemClock, log })
  maintenance.start()
  return maintenance
}
