// The entry point of the thread that answers queries. A long query, or a long answer, delays only other queries.
import { setImmediate } from 'node:timers/promises'
import { isUnavailable, openReadOnly } from '@penstock/db'
import { systemClock } from '@penstock/runtime'
import { RunHistory } from '../insights/history/run-history.ts'
import { sqliteQueries } from '../ports/sqlite-queries.ts'
import { runStoreQuery, type StoreQuery, type StoreReply, transferredWith } from '../ports/store-queries.ts'
import type { ObserveTables } from '../schema/tables.ts'
import type { ObserveLimits } from '../store/observe-limits.ts'
import { serveThread } from './thread-messages.ts'

/** Enough for the largest answer, so that its pages are read from the file once and not at every reload. */
const PAGE_CACHE_BYTES = 64 * 1024 * 1024

serveThread<{ file: string; limits: ObserveLimits }, StoreQuery, StoreReply>(({ file, limits }) => {
  const db = openReadOnly<ObserveTables>(file, { cacheBytes: PAGE_CACHE_BYTES })
  const history = new RunHistory(db.read, () => systemClock.nowMs())
  const queries = sqliteQueries(db.read, limits, history)
  let last: Promise<unknown> = Promise.resolve()
  let isClosing = false
  // Queries run one after another, so that the memory of one answer is the most that is ever used.
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }
  // A failure is left to the next query, which reads the same.
  void readAhead(() => inTurn(async () => !isClosing && (await history.readAhead()))).catch(() => {})
  return {
    answer: (query) => inTurn(() => runStoreQuery(queries, query)),
    isUnavailable,
    transferred: transferredWith,
    async close() {
      isClosing = true
      await last
      await db.close()
    },
  }
})

/** Reads runs for insights part by part, so that queries wait for one part at most. */
async function readAhead(readPart: () => Promise<boolean>): Promise<void> {
  while (await readPart()) await setImmediate()
}
