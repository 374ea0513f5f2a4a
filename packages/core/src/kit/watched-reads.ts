import type { Core } from './context.ts'

/** Where statements outside transactions go. */
export type Reads = Core['db']['read']

/** Hears of every statement. What it throws, whoever reads is told. */
export interface ReadWatch {
  /** Asked at least once before each begins, also while it is built. */
  requireOpen(): void
  /** Its rows hold texts of so many characters together. */
  countCharacters(characters: number): void
}

/** Reads under a watch: of a caller who may go away, or who is given only so much. */
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
