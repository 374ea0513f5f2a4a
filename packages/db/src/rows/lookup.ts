import type { Compilable, CompiledQuery, Kysely } from 'kysely'

/** Statements with more values are compiled each time, so that the number of kept ones has a limit. */
const MAX_KEPT_VALUES = 32

/**
 * Reads rows by some values, with a statement that is compiled only once for each number of values. Compiling a statement takes longer than running
 * it, so this is for the statements of every request.
 *
 * ```ts
 * const userByName = new Lookup((db: Kysely<Tables>, name: string) =>
 *   db.selectFrom('users').select(['id', 'email']).where('name', '=', name))
 * ```
 */
export class Lookup<Tables, Values extends readonly unknown[], Row> {
  readonly #query: (db: Kysely<Tables>, ...values: Values) => Compilable<Row>
  /** The compiled statements by dialect adapter and number of values. */
  readonly #statements = new WeakMap<object, (CompiledQuery | undefined)[]>()

  /**
   * @param query returns the statement; called once for each dialect and number of values, with objects that represent the values, so it may
   *   only pass them on to Kysely
   */
  constructor(query: (db: Kysely<Tables>, ...values: Values) => Compilable<Row>) {
    this.#query = query
  }

  /** Returns the first row, or `undefined`. */
  async run(db: Kysely<Tables>, ...values: Values): Promise<Row | undefined> {
    return (await this.all(db, ...values))[0]
  }

  /** Returns all rows. */
  async all(db: Kysely<Tables>, ...values: Values): Promise<Row[]> {
    const { sql, query: node, queryId, parameters: own } = this.#statementFor(db, values.length)
    const parameters = own.map((parameter) => (parameter instanceof Placeholder ? values[parameter.index] : parameter))
    const query: CompiledQuery<Row> = { sql, query: node, queryId, parameters }
    // Gives plugins the chance to stop the statement, which they have when it is compiled.
    db.getExecutor().transformQuery(query.query, query.queryId)
    const { rows } = await db.executeQuery(query)
    return rows
  }

  #statementFor(db: Kysely<Tables>, valueCount: number): CompiledQuery {
    const { adapter } = db.getExecutor()
    const known = this.#statements.get(adapter) ?? []
    const statement = known[valueCount] ?? this.#compiled(db, valueCount)
    if (valueCount <= MAX_KEPT_VALUES) {
      known[valueCount] = statement
      this.#statements.set(adapter, known)
    }
    return statement
  }

  #compiled(db: Kysely<Tables>, valueCount: number): CompiledQuery {
    const placeholders = Array.from({ length: valueCount }, (_, index) => new Placeholder(index))
    const statement = this.#query(db, ...(placeholders as readonly unknown[] as Values)).compile()
    const sent = new Set(statement.parameters)
    for (const placeholder of placeholders) {
      if (!sent.has(placeholder)) {
        throw new Error(`The statement lacks a parameter for value ${placeholder.index + 1}`)
      }
    }
    return statement
  }
}

/** Represents a value while the statement is compiled. */
class Placeholder {
  readonly index: number

  constructor(index: number) {
    this.index = index
  }
}
