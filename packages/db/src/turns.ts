/** Runs one piece of work after another, in the order they are asked for; one that fails holds up none. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve()

  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#last.then(work)
    this.#last = result.catch(() => {})
    return result
  }

  /** Resolves when what has been asked for so far is over. */
  async over(): Promise<void> {
    await this.#last
  }
}
