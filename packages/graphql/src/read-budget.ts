import type { ReadWatch } from '@penstock/core'
import { LimitMet } from './failure.ts'

export const MAX_READ = 64_000_000

/**
 * How much text the database gives for one request, shown or not: records of jobs and pipelines may each be long, and lists
 * and stages hold thousands of them. With the statement that reads more it ends, for whatever waits for that and all after it.
 */
export class ReadBudget {
  #left: number
  readonly #message: string

  constructor(mostCharacters: number) {
    this.#left = mostCharacters
    this.#message = `One request may read at most ${mostCharacters} characters of text`
  }

  /** Takes from it what is read, and throws LimitMet when that is too much. `requireTime` is asked before anything is read. */
  watch(requireTime: () => void): ReadWatch {
    return {
      requireOpen: () => {
        requireTime()
        this.#requireRest()
      },
      countCharacters: (characters) => {
        this.#left -= characters
        this.#requireRest()
      },
    }
  }

  #requireRest(): void {
    if (this.#left < 0) throw new LimitMet(this.#message)
  }
}
