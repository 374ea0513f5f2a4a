// The entry point of the thread that answers queries from ClickHouse. Answers are read, built and written as JSON here, so that a large
// one does not delay the clients of the gateway.
import { type Log, systemClock } from '@penstock/runtime'
import { clickHouseQueries } from '../clickhouse/clickhouse-queries.ts'
import {
  ClickHouse,
  type ClickHouseAddress,
  ClickHouseUnavailable,
  fillBounds,
} from '../clickhouse/schema/clickhouse-client.ts'
import { UnknownSchema } from '../clickhouse/schema/exporter-schema.ts'
import { ViewMaintenance } from '../clickhouse/views/view-maintenance.ts'
import { runStoreQuery, type StoreQuery, type StoreReply, transferredWith } from '../ports/store-queries.ts'
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
