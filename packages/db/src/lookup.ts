import { type Compilable, CompiledQuery, type Kysely } from 'kysely'

/**
 * Reads the row that has a value, with a statement that is compiled only once. Compiling a statement takes longer than running
 * it, so this is for the statements of every request.
 *
 * ```ts
 * const userByName = new Lookup((db: Kysely<Tables>, name: string) =>
 *   db.selectFrom('users').select(['id', 'email']).where('name', '=', name))
 * ```
 */
export class Lookup<Tables, Value, Row> {
  readonly #query: (db: Kysely<Tables>, value: Value) => Compilable<Row>
  /** The SQL text by dialect adapter. */
  readonly #texts = new WeakMap<object, string>()

  /** @param query returns the statement for the given value, which must be its only parameter */
  constructor(query: (db: Kysely<Tables>, value: Value) => Compilable<Row>) {
    this.#query = query
  }

  /** Returns the first row, or `undefined`. */
  async run(db: Kysely<Tables>, value: Value): Promise<Row | undefined> {
    const { rows } = await db.executeQuery<Row>(CompiledQuery.raw(this.#textFor(db, value), [value]))
    return rows[0]
  }

  #textFor(db: Kysely<Tables>, value: Value): string {
    const { adapter } = db.getExecutor()
    const known = this.#texts.get(adapter)
    if (known !== undefined) return known
    const { sql, parameters } = this.#query(db, value).compile()
    if (parameters.length !== 1) throw new Error(`The statement has ${parameters.length} parameters instead of one`)
    this.#texts.set(adapter, sql)
    return sql
  }
}
