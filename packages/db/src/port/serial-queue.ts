import { setImmediate } from 'node:timers/promises'

/** The error for a full queue; the caller should retry later. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError'

  constructor() {
    super('Too many tasks are waiting in the queue')
  }
}

/**
 * Runs tasks one after another, in the order in which they were submitted, with a turn of the event loop in between. A task
 * that fails does not affect the others.
 */
export class SerialQueue {
  readonly #maxUnfinished: number
  #unfinished = 0
  #last: Promise<unknown> = Promise.resolve()

  /** @param maxUnfinished the maximum number of tasks that run or wait */
  constructor(maxUnfinished = Number.POSITIVE_INFINITY) {
    this.#maxUnfinished = maxUnfinished
  }

  /** Runs `task` in its turn, and returns its result. Rejects with `QueueFullError` if the queue is full. */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    if (this.#unfinished >= this.#maxUnfinished) throw new QueueFullError()
    this.#unfinished += 1
    const result = this.#last.then(task).finally(() => {
      this.#unfinished -= 1
    })
    // Without this turn, tasks that never wait would run in one go, and block all input and output in between.
    this.#last = result.catch(() => {}).then(() => setImmediate())
    return result
  }

  /** Resolves when all tasks that were submitted before this call are done. */
  async drain(): Promise<void> {
    await this.#last
  }
}
