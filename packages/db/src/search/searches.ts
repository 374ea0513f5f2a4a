import type { CompiledQuery, QueryResult, SqliteDatabase } from 'kysely'
import type { ReadScope } from '../port/read-limit.ts'
import { StatementConnection } from '../statements/statement-connection.ts'
import type { SearchBudget } from './search-budget.ts'
import type { SearchThreadData } from './search-messages.ts'
import type { SearchLane } from './text-condition.ts'
import { ThreadedSearch } from './threaded-search.ts'

/** Runs the statements that search texts. */
export interface Searches {
  /** @throws SearchBudgetError; QueueFullError if too many searches wait; ReadLimitExceeded */
  run<Row>(query: CompiledQuery, lane: SearchLane, scope: ReadScope): Promise<QueryResult<Row>>
  close(): Promise<void>
}

/**
 * Returns searches that run in two threads, which start when they are first used: one for searches with an index, and one for those
 * that read every text, so that these do not hold up the others.
 */
export function searchesInThreads(data: SearchThreadData): Searches {
  const threads = { indexed: new ThreadedSearch(data), scanning: new ThreadedSearch(data) }
  return {
    run: (query, lane, scope) => threads[lane].run(query, scope),
    close: async () => void (await Promise.all([threads.indexed.close(), threads.scanning.close()])),
  }
}

/** Returns searches that run on a connection of this thread, for commands and tests. */
export function searchesOn(database: SqliteDatabase, budget: SearchBudget): Searches {
  return {
    async run<Row>(query: CompiledQuery, _lane: SearchLane, { limit }: ReadScope) {
      budget.begin()
      try {
        return new StatementConnection(database, limit).run<Row>(query)
      } finally {
        budget.end()
      }
    },
    close: async () => {},
  }
}
