import type { SizedDescription } from '@penstock/core'
import type { GraphQLError } from 'graphql'
import { sizeText } from './blob-data.ts'
import { FirstRefusal } from './first-refusal.ts'
import { OneByOne } from './one-by-one.ts'

export const MAX_TEXT = 20 * 1024 * 1024

type Descriptions = readonly (SizedDescription | undefined)[]

/**
 * How much one request is given of what is said of things, each of which may be long: descriptions, and messages of commits.
 * Those beyond are not even read. What is told twice counts twice.
 *
 * @see spec/graphql-contract.md 2.1
 */
export class TextBudget {
  #left: number
  readonly #refusal: FirstRefusal
  /** An operation whose time is over may still be reading when the next one begins. */
  readonly #readings = new OneByOne()

  constructor(mostBytes: number) {
    this.#left = mostBytes
    const most = sizeText(mostBytes)
    this.#refusal = new FirstRefusal(
      `The descriptions and commit messages of one request may be at most ${most} together`,
    )
  }

  /**
   * As many of so many descriptions as there is room for; after the first that is refused, none.
   *
   * @param read gives the first ones, as long as they have at most so many bytes together
   */
  take(count: number, read: (mostBytes: number) => Promise<Descriptions>): Promise<Descriptions> {
    return this.#readings.run(() => this.#takeNext(count, read))
  }

  /** For the first description of an operation that is refused, as with lists. */
  refusalIn(operation: object): GraphQLError | undefined {
    return this.#refusal.in(operation)
  }

  async #takeNext(count: number, read: (mostBytes: number) => Promise<Descriptions>): Promise<Descriptions> {
    if (this.#left < 0) return Array(count).fill(undefined)
    const given = await read(this.#left)
    const isWhole = given.every((each) => each !== undefined)
    this.#left = isWhole ? given.reduce((left, { bytes }) => left - bytes, this.#left) : -1
    return given
  }
}
