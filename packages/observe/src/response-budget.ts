interface Streamed<Row> {
  stream(): AsyncIterable<Row>
}

/**
 * The number of bytes that one answer may still use. Rows are read one at a time and counted, because a few of them can
 * be as large as the whole database.
 */
export class ResponseBudget {
  #bytesLeft: number
  #isTruncated = false
  #hasRows = false

  constructor(bytes: number) {
    this.#bytesLeft = bytes
  }

  /** Tells whether there were more rows than fit. */
  get isTruncated(): boolean {
    return this.#isTruncated
  }

  /**
   * Yields the rows that fit, but always the first one. Run no other query meanwhile: the connection is in use until
   * the last row.
   *
   * @param sizeOf returns the number of characters of a row that go into the answer
   */
  async *rows<Row extends object>(query: Streamed<Row>, sizeOf: (row: Row) => number = lengthOf): AsyncGenerator<Row> {
    for await (const row of query.stream()) {
      if (!this.take(sizeOf(row))) return
      yield row
    }
  }

  /** Takes the characters of an item, and returns whether they fit. The first item always fits. */
  take(characters: number): boolean {
    this.#bytesLeft -= characters
    if (this.#bytesLeft < 0 && this.#hasRows) {
      this.#isTruncated = true
      return false
    }
    this.#hasRows = true
    return true
  }

  async list<Row extends object>(query: Streamed<Row>): Promise<Row[]> {
    const rows: Row[] = []
    for await (const row of this.rows(query)) rows.push(row)
    return rows
  }
}

/** The size of a row without its texts, in an answer or in memory. */
const ROW_BYTES = 50

const lengthOf = (row: object): number =>
  Object.values(row).reduce((sum: number, value) => sum + (typeof value === 'string' ? value.length : 0), ROW_BYTES)
