/** Runs one piece of work after the other, in the order in which they come. What fails concerns only whoever waits for it. */
export class OneByOne {
  #last: Promise<unknown> = Promise.resolve()

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }
}
