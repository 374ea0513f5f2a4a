interface Streamed<Row> {
  stream(): AsyncIterable<Row>
}

/**
 * The bytes that one answer may still take. Rows are read one at a time and counted, because a few of them can hold as much
 * as the whole database.
 */
export class AnswerSpace {
  #bytesLeft: number
  #isTruncated = false
  #hasRows = false

  constructor(bytes: number) {
    this.#bytesLeft = bytes
  }

  /** There were more rows than fit. */
  get isTruncated(): boolean {
    return this.#isTruncated
  }

  /**
   * Yields the rows that fit, and the very first one in any case. Ask the database nothing else meanwhile: the connection is
   * taken until the last row.
   *
   * @param sizeOf the characters of a row that go into the answer
   */
  async *rows<Row extends object>(query: Streamed<Row>, sizeOf: (row: Row) => number = lengthOf): AsyncGenerator<Row> {
    for await (const row of query.stream()) {
      this.#bytesLeft -= sizeOf(row)
      if (this.#bytesLeft < 0 && this.#hasRows) {
        this.#isTruncated = true
        return
      }
      this.#hasRows = true
      yield row
    }
  }

  async list<Row extends object>(query: Streamed<Row>): Promise<Row[]> {
    const rows: Row[] = []
    for await (const row of this.rows(query)) rows.push(row)
    return rows
  }
}

/** What a row takes beside its texts, in an answer or in memory. */
const ROW_BYTES = 50

const lengthOf = (row: object): number =>
  Object.values(row).reduce((sum: number, value) => sum + (typeof value === 'string' ? value.length : 0), ROW_BYTES)
