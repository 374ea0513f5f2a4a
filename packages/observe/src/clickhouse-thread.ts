// The entry point of the thread that answers queries from ClickHouse. Answers are read, built and written as JSON here, so that a large
// one does not delay the clients of the gateway.
import { systemClock } from '@penstock/runtime'
import { ClickHouse, type ClickHouseAddress, ClickHouseUnavailable } from './clickhouse/clickhouse-client.ts'
import { clickHouseQueries } from './clickhouse/clickhouse-queries.ts'
import { UnknownSchema } from './clickhouse/exporter-schema.ts'
import { runStoreQuery, type StoreQuery, type StoreResponse } from './store-queries.ts'
import { serveThread } from './thread-messages.ts'

serveThread<{ address: ClickHouseAddress }, StoreQuery, StoreResponse | undefined>(({ address }) => {
  const db = new ClickHouse(address)
  const queries = clickHouseQueries({ db, nowMs: () => systemClock.nowMs() })
  return {
    answer: (query) => runStoreQuery(queries, query),
    isUnavailable: (error) => error instanceof ClickHouseUnavailable || error instanceof UnknownSchema,
    transferred: (answer) => (answer === undefined ? [] : [answer.json.buffer]),
    close: () => db.close(),
  }
})
