import type { Core } from './context.ts'

/** The connection for statements outside transactions. */
export type Reads = Core['db']['read']

/** Observes every statement. An error that it throws fails the read. */
export interface ReadWatch {
  /** Called at least once before each statement, also while it is built. */
  requireOpen(): void
  /** Called with the total length of the texts in the rows of each result. */
  countCharacters(characters: number): void
}

/** Returns a connection with reads that `watch` can stop, when the client disconnects or exceeds a limit. */
export const watchedReads = ({ db }: Pick<Core, 'db'>, watch: ReadWatch): Reads =>
  db.read.withPlugin({
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
