import { setImmediate } from 'node:timers/promises'

/** A queue is as long as it may become; whoever comes now waits less by coming later. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'

  constructor() {
    super('Too many are waiting for their turn')
  }
}

/**
 * Runs one piece of work after another, in the order they are asked for, with a turn of the event loop in between; one that
 * fails holds up none.
 */
export class SerialQueue {
  readonly #most: number
  #unfinished = 0
  #last: Promise<unknown> = Promise.resolve()

  /** @param most at work and waiting together */
  constructor(most = Number.POSITIVE_INFINITY) {
    this.#most = most
  }

  /** Rejects with `QueueFullError` at once, without having begun the work, when as many as may be are unfinished. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#unfinished >= this.#most) throw new QueueFullError()
    this.#unfinished += 1
    const result = this.#last.then(work).finally(() => {
      this.#unfinished -= 1
    })
    // What can be done without waiting would else all be done at once: meanwhile nobody is read from, and no connection taken.
    this.#last = result.catch(() => {}).then(() => setImmediate())
    return result
  }

  /** Resolves when what has been asked for so far is over. */
  async drain(): Promise<void> {
    await this.#last
  }
}
