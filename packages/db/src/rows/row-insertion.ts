import { type Compilable, CompiledQuery, type QueryResult, type Transaction } from 'kysely'

/** The numbers of rows per statement. Other numbers of rows are split into these. */
const CHUNKS = [64, 16, 8, 7, 6, 5, 4, 3, 2, 1] as const

/**
 * Inserts many rows with few statements, which are compiled and prepared only once. Compiling and preparing a statement for
 * each call would take longer than running it.
 *
 * ```ts
 * const insertLabels = new RowInsertion<Tables, Label>(['name', 'color'], (tx, rows) => tx.insertInto('labels').values(rows))
 * ```
 */
export class RowInsertion<Tables, Row extends object, Returned = unknown> {
  readonly #columns: readonly (keyof Row & string)[]
  readonly #query: (tx: Transaction<Tables>, rows: Row[]) => Compilable<Returned>
  /** The SQL text by dialect adapter and number of rows. */
  readonly #texts = new WeakMap<object, Map<number, string>>()

  /** @param query returns the statement for the given rows; its only parameters must be the values of `columns`, row by row */
  constructor(
    columns: readonly (keyof Row & string)[],
    query: (tx: Transaction<Tables>, rows: Row[]) => Compilable<Returned>,
  ) {
    this.#columns = columns
    this.#query = query
  }

  /** Returns how many rows were inserted or changed. */
  async run(tx: Transaction<Tables>, rows: readonly Row[]): Promise<number> {
    const results = await this.#results(tx, rows)
    return results.reduce((affected, { numAffectedRows }) => affected + Number(numAffectedRows ?? 0), 0)
  }

  /** Returns what the statement returns for the rows, in any order. */
  async returned(tx: Transaction<Tables>, rows: readonly Row[]): Promise<Returned[]> {
    return (await this.#results(tx, rows)).flatMap((result) => result.rows)
  }

  async #results(tx: Transaction<Tables>, rows: readonly Row[]): Promise<QueryResult<Returned>[]> {
    const results: QueryResult<Returned>[] = []
    for (let from = 0; from < rows.length; ) {
      const chunk = CHUNKS.find((size) => size <= rows.length - from)!
      const part = rows.slice(from, from + chunk)
      const values = part.flatMap((row) => this.#columns.map((column) => row[column]))
      results.push(await tx.executeQuery<Returned>(CompiledQuery.raw(this.#textFor(tx, part), values)))
      from += chunk
    }
    return results
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
