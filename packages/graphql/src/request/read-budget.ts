import type { ReadWatch } from '@penstock/core'
import { RequestLimitExceeded } from './failure.ts'

export const MAX_READ_CHARACTERS = 64_000_000

/**
 * Limits the text that one request reads from the database. Text that the response does not show counts too, because a list
 * may hold thousands of long job and pipeline records. When a statement exceeds the limit, it and all later statements of the request fail.
 */
export class ReadBudget {
  #remaining: number
  readonly #message: string

  constructor(maxCharacters: number) {
    this.#remaining = maxCharacters
    this.#message = `One request may read at most ${maxCharacters} characters of text`
  }

  /** Counts what is read, and throws RequestLimitExceeded above the limit. Calls `requireTime` before each read. */
  watch(requireTime: () => void): ReadWatch {
    return {
      requireOpen: () => {
        requireTime()
        this.#requireRemaining()
      },
      countCharacters: (characters) => {
        this.#remaining -= characters
        this.#requireRemaining()
      },
    }
  }

  #requireRemaining(): void {
    if (this.#remaining < 0) throw new RequestLimitExceeded(this.#message)
  }
}
