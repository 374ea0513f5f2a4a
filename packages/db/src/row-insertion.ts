import { type Compilable, CompiledQuery, type Transaction } from 'kysely'

/** So many rows are one statement; fewer are put together from these. */
const CHUNKS = [64, 16, 4, 1] as const

/**
 * An insertion of many rows by few statements that are always the same: neither put into words nor prepared anew, which would
 * cost more than to run them.
 *
 * ```ts
 * const insertLabels = new RowInsertion<Tables, Label>(['name', 'color'], (tx, rows) => tx.insertInto('labels').values(rows))
 * ```
 */
export class RowInsertion<Tables, Row extends object> {
  readonly #columns: readonly (keyof Row & string)[]
  readonly #query: (tx: Transaction<Tables>, rows: Row[]) => Compilable
  /** By what speaks the database's language, and the number of rows. */
  readonly #texts = new WeakMap<object, Map<number, string>>()

  /** @param query for these very rows; all that is not fixed in it are the values of `columns`, row by row */
  constructor(columns: readonly (keyof Row & string)[], query: (tx: Transaction<Tables>, rows: Row[]) => Compilable) {
    this.#columns = columns
    this.#query = query
  }

  /** Returns how many were inserted or changed. */
  async run(tx: Transaction<Tables>, rows: readonly Row[]): Promise<number> {
    let affected = 0
    for (let from = 0; from < rows.length; ) {
      const chunk = CHUNKS.find((size) => size <= rows.length - from)!
      const part = rows.slice(from, from + chunk)
      const values = part.flatMap((row) => this.#columns.map((column) => row[column]))
      const result = await tx.executeQuery(CompiledQuery.raw(this.#textFor(tx, part), values))
      affected += Number(result.numAffectedRows ?? 0)
      from += chunk
    }
    return affected
  }

  #textFor(tx: Transaction<Tables>, rows: readonly Row[]): string {
    const { adapter } = tx.getExecutor()
    const texts = this.#texts.get(adapter) ?? new Map<number, string>()
    this.#texts.set(adapter, texts)
    const known = texts.get(rows.length)
    if (known !== undefined) return known
    const inOrder = rows.map((row) => Object.fromEntries(this.#columns.map((column) => [column, row[column]])) as Row)
    const { sql } = this.#query(tx, inOrder).compile()
    texts.set(rows.length, sql)
    return sql
  }
}
