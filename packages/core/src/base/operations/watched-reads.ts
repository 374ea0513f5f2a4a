import type { Core } from './context.ts'
import { type RequestFacts, toSubscriber } from './request-facts.ts'

/** The connection for statements outside transactions. */
export type Reads = Core['db']['read']

/** Observes every statement. An error that it throws fails the read. */
export interface ReadWatch {
  /** Called at least once before each statement, also while it is built. */
  requireOpen(): void
  /** Called with the total length of the texts in the rows of each result. */
  countCharacters(characters: number): void
}

/**
 * Returns a connection with reads that `watch` can stop, when the client disconnects or exceeds a limit.
 *
 * @param request the request that reads; searches of several clients take turns
 */
export const watchedReads = ({ db }: Pick<Core, 'db'>, request: RequestFacts, watch: ReadWatch): Reads =>
  db.readWithin(undefined, toSubscriber(request)).withPlugin({
    transformQuery({ node }) {
      watch.requireOpen()
      return node
    },
    async transformResult({ result }) {
      watch.countCharacters(charactersOf(result.rows))
      return result
    },
  })

function charactersOf(rows: readonly object[]): number {
  let sum = 0
  for (const row of rows) {
    for (const value of Object.values(row)) if (typeof value === 'string') sum += value.length
  }
  return sum
}
