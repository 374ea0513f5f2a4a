import type { GivenDescription } from '@penstock/core'
import { GraphQLError } from 'graphql'
import { sizeText } from './blob-data.ts'

export const MOST_TEXT = 20 * 1024 * 1024

type Descriptions = readonly (GivenDescription | undefined)[]

/**
 * How much one request is given of the descriptions of issues and merge requests, each of which may be long. Those beyond
 * are not even read. What is told twice counts twice.
 *
 * @see spec/graphql-contract.md 2.1
 */
export class TextBudget {
  readonly #mostBytes: number
  #left: number
  readonly #told = new WeakSet<object>()
  /** One after the other: an operation whose time is over may still be reading. */
  #last: Promise<unknown> = Promise.resolve()

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes
    this.#left = mostBytes
  }

  /**
   * As many of so many descriptions as there is room for; after the first that is refused, none.
   *
   * @param read gives the first ones, as long as they have at most so many bytes together
   */
  take(count: number, read: (mostBytes: number) => Promise<Descriptions>): Promise<Descriptions> {
    const taken = this.#last.then(() => this.#takeNext(count, read))
    this.#last = taken.catch(() => {})
    return taken
  }

  /** For the first description of an operation that is refused, as with lists. */
  refusalIn(operation: object): GraphQLError | undefined {
    if (this.#told.has(operation)) return undefined
    this.#told.add(operation)
    return new GraphQLError(`The descriptions of one request may be at most ${sizeText(this.#mostBytes)} together`)
  }

  async #takeNext(count: number, read: (mostBytes: number) => Promise<Descriptions>): Promise<Descriptions> {
    if (this.#left < 0) return Array(count).fill(undefined)
    const given = await read(this.#left)
    const isWhole = given.every((each) => each !== undefined)
    this.#left = isWhole ? given.reduce((left, { bytes }) => left - bytes, this.#left) : -1
    return given
  }
}
