/**
 * Runs tasks one at a time, in the order of the calls. A failed task rejects its own promise and does not affect the next
 * one.
 */
export class SerialQueue {
  #last: Promise<unknown> = Promise.resolve()

  run<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }
}
