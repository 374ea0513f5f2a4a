import { RateLimiterPostgres } from 'rate-limiter-flexible'

/** Counters by key, which all processes that use one database share. */
export interface SharedCounter {
  /** Adds one to the count of a key, and returns it. It begins again `seconds` after its first one. */
  count(key: string, seconds: number): Promise<number>
}

/** Runs one statement by itself. */
type RunStatement = (text: string, values: readonly unknown[]) => Promise<unknown>

/**
 * Returns counters in a table with the columns `key` (text), `points` (integer) and `expire` (milliseconds since 1970).
 * The owner of the table deletes the rows after `expire`.
 */
export function sharedCounter(table: string, run: RunStatement): SharedCounter {
  const client = { query: ({ text, values }: { text: string; values: unknown[] }) => run(text, values) }
  const limiter = new RateLimiterPostgres({
    storeClient: client,
    storeType: 'pool',
    tableName: table,
    tableCreated: true,
    clearExpiredByTimeout: false,
    keyPrefix: '',
    // The callers compare the counts with their limits, which may change.
    points: Number.MAX_SAFE_INTEGER,
    // Each count has a duration of its own.
    duration: 1,
  })
  return {
    async count(key, seconds) {
      const { consumedPoints } = await limiter.penalty(key, 1, { customDuration: seconds })
      return consumedPoints
    },
  }
}
