import type { Dialect } from './dialect.ts'
import type { TestCase, TestEntry } from './report.ts'

/** An attempt as a row of the report describes it. */
export type AttemptRow = Omit<TestCase, 'attempt' | 'isRepeated'>

/**
 * Numbers the attempts of the cases of one suite. Rows with the same names and file are attempts of one case, in the order of the
 * report.
 */
export class RowAttempts {
  readonly #entries: TestEntry[]
  readonly #dialect: Dialect
  /** The number of attempts of each case, and the place of the last one in the entries. */
  readonly #last = new Map<string, { readonly attempt: number; readonly at: number }>()

  constructor(entries: TestEntry[], dialect: Dialect) {
    this.#entries = entries
    this.#dialect = dialect
  }

  add(rows: readonly AttemptRow[]): void {
    for (const row of rows) {
      const key = JSON.stringify([row.className, row.name, row.namedFile])
      const last = this.#last.get(key)
      if (last !== undefined) this.#repeat(last.at)
      const attempt = (last?.attempt ?? 0) + 1
      this.#last.set(key, { attempt, at: this.#entries.length })
      this.#entries.push({ ...row, attempt, isRepeated: false })
    }
  }

  /** Frees the memory of the names. */
  end(): void {
    this.#last.clear()
  }

  #repeat(at: number): void {
    const entry = this.#entries[at] as TestCase
    const isSilent = this.#dialect.hasSilentReruns && entry.result === 'passed'
    this.#entries[at] = { ...entry, isRepeated: true, result: isSilent ? 'failed' : entry.result }
  }
}
