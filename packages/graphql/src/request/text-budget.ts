import type { SizedDescription } from '@penstock/core'
import { MAX_ANSWER_BYTES } from '@penstock/json'
import type { GraphQLError } from 'graphql'
import { sizeText } from './blob-budget.ts'
import { OncePerOperationError } from './once-per-operation-error.ts'
import { SerialQueue } from './serial-queue.ts'

/** The descriptions alone may use up the whole response. */
export const MAX_TEXT_BYTES = MAX_ANSWER_BYTES

type Descriptions = readonly (SizedDescription | undefined)[]

/**
 * Limits the descriptions and commit messages in one response. Texts beyond the limit are not read. A text that occurs twice
 * counts twice.
 */
export class TextBudget {
  #remainingBytes: number
  readonly #limitError: OncePerOperationError
  /** An operation that has timed out may still be reading when the next one starts. */
  readonly #queue = new SerialQueue()

  constructor(maxBytes: number) {
    this.#remainingBytes = maxBytes
    const limit = sizeText(maxBytes)
    this.#limitError = new OncePerOperationError(
      `The descriptions and commit messages of one request may be at most ${limit} together`,
    )
  }

  /**
   * Returns `count` descriptions. The first one that exceeds the limit and all later ones are `undefined`.
   *
   * @param read returns the first descriptions that are at most `maxBytes` long together, and `undefined` for the rest
   */
  take(count: number, read: (maxBytes: number) => Promise<Descriptions>): Promise<Descriptions> {
    return this.#queue.run(() => this.#takeNext(count, read))
  }

  /** Returns the error for the first description of an operation that exceeds the limit; `undefined` for later ones. */
  limitErrorFor(operation: object): GraphQLError | undefined {
    return this.#limitError.errorFor(operation)
  }

  async #takeNext(count: number, read: (maxBytes: number) => Promise<Descriptions>): Promise<Descriptions> {
    if (this.#remainingBytes < 0) return Array(count).fill(undefined)
    const descriptions = await read(this.#remainingBytes)
    const isComplete = descriptions.every((each) => each !== undefined)
    this.#remainingBytes = isComplete
      ? descriptions.reduce((remaining, { bytes }) => remaining - bytes, this.#remainingBytes)
      : -1
    return descriptions
  }
}
