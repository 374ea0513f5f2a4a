import type Sqlite from 'better-sqlite3'
import type { SqliteStatement } from 'kysely'
import { admitTexts, type ReadLimit } from '../port/read-limit.ts'

type Cells = readonly unknown[]

/** Counts the changes of a schema by this process. */
export interface SchemaVersion {
  changes: number
}

/**
 * A statement that returns rows. better-sqlite3 would look up the name of each column again for each row, which takes longer
 * than reading the values. Therefore it returns arrays here, from which a function that is generated once makes the objects.
 */
export class ReadStatement implements SqliteStatement {
  readonly reader = true
  readonly #statement: Sqlite.Statement<[readonly unknown[]], Cells>
  readonly #schema: SchemaVersion
  #changes = -1
  #width = 0
  #rowOf: (cells: Cells) => object = () => ({})

  constructor(statement: Sqlite.Statement, schema: SchemaVersion) {
    this.#schema = schema
    // The declarations of the library do not say that `raw` changes the type of the rows.
    this.#statement = statement.raw() as Sqlite.Statement<[readonly unknown[]], Cells>
  }

  all(parameters: readonly unknown[]): object[] {
    const rows: (Cells | object)[] = this.#statement.all(parameters)
    for (let index = 0; index < rows.length; index += 1) rows[index] = this.#objectOf(rows[index] as Cells)
    return rows as object[]
  }

  /** Returns the rows with the texts that the limit admits. Rows are read one at a time, so that one error ends the reading. */
  allWithin(parameters: readonly unknown[], limit: ReadLimit): object[] {
    const rows: object[] = []
    for (const cells of this.#statement.iterate(parameters)) {
      admitTexts(cells as unknown[], limit)
      rows.push(this.#objectOf(cells))
    }
    return rows
  }

  run(): never {
    throw new Error('A statement that returns rows is not run for its effect alone')
  }

  *iterate(parameters: readonly unknown[]): IterableIterator<object> {
    for (const cells of this.#statement.iterate(parameters)) yield this.#objectOf(cells)
  }

  #objectOf(cells: Cells): object {
    // A change of the schema gives `select *` other columns. SQLite has then prepared the statement again by itself. Changes by
    // other processes are noticed by the number of columns.
    if (cells.length !== this.#width || this.#changes !== this.#schema.changes) this.#useColumns()
    return this.#rowOf(cells)
  }

  #useColumns(): void {
    this.#changes = this.#schema.changes
    const names = this.#statement.columns().map(({ name }) => name)
    this.#width = names.length
    this.#rowOf = rowFunction(names)
  }
}

/** Returns a function that makes an object with these names. It is generated, because a loop over the names takes twice as long. */
function rowFunction(names: readonly string[]): (cells: Cells) => object {
  const members = names.map((name, index) => `${JSON.stringify(name)}: cells[${index}]`)
  return new Function('cells', `return { ${members.join(', ')} }`) as (cells: Cells) => object
}
