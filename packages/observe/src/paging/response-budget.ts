import { heaviestMember } from '@penstock/json'
import type { Position, RowItem } from './cursor.ts'
import { jsonLength } from './json-bytes.ts'

interface Streamed<Row> {
  stream(): AsyncIterable<Row>
}

interface ListedRows<Row, Item> {
  toItem(row: Row): Item
  /** Returns the position of a row, if the list has pages. */
  positionOf?(row: Row): Position
}

/** The error for an answer that would be too large, and cannot end early because its first item alone is too large. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
  /** The member with the most text. */
  readonly member: string | undefined
  /** The position of the item, if it belongs to a list with pages: the list goes on after it. */
  readonly position: Position | undefined

  constructor(member: string | undefined, position?: Position) {
    super(`an answer is too large${member === undefined ? '' : ` because of ${member}`}`)
    this.member = member
    this.position = position
  }
}

/**
 * The number of bytes that one answer may still use. Rows are read one at a time and their JSON is measured, because a few of
 * them can be as large as the whole database.
 */
export class ResponseBudget {
  #bytesLeft: number
  #isTruncated = false
  #hasItems = false

  constructor(bytes: number) {
    this.#bytesLeft = bytes
  }

  /** Returns whether there were more items than fit. */
  get isTruncated(): boolean {
    return this.#isTruncated
  }

  /**
   * Yields the rows of which the items fit. Run no other query before the last row: the connection is in use.
   *
   * @throws AnswerTooLarge
   */
  async *rows<Row extends object, Item>(
    query: Streamed<Row>,
    { toItem, positionOf }: ListedRows<Row, Item>,
  ): AsyncGenerator<RowItem<Row, Item>> {
    for await (const row of query.stream()) {
      const item = toItem(row)
      if (!this.take(item, positionOf?.(row))) return
      yield { row, item }
    }
  }

  /** @throws AnswerTooLarge */
  async list<Row extends object, Item>(
    query: Streamed<Row>,
    listed: ListedRows<Row, Item>,
  ): Promise<RowItem<Row, Item>[]> {
    const found: RowItem<Row, Item>[] = []
    for await (const each of this.rows(query, listed)) found.push(each)
    return found
  }

  /**
   * Takes the JSON of an item, with a comma, and returns whether it fits. After one that does not fit, no other does.
   *
   * @param position the position of the item, if it belongs to a list with pages
   * @throws AnswerTooLarge if the first item does not fit
   */
  take(item: unknown, position?: Position): boolean {
    if (this.#isTruncated) return false
    if (this.takeBytes(jsonLength(item) + 1)) return true
    if (!this.#hasItems) throw new AnswerTooLarge(heaviestMember(item), position)
    return false
  }

  /** Takes the bytes of a part of the answer, and returns whether they fit. After a part that does not fit, no other does. */
  takeBytes(bytes: number): boolean {
    if (this.#isTruncated || bytes > this.#bytesLeft) {
      this.#isTruncated = true
      return false
    }
    this.#bytesLeft -= bytes
    this.#hasItems = true
    return true
  }

  /** Records that the answer ends early. Nothing else fits after it. */
  truncate(): void {
    this.#isTruncated = true
  }
}
