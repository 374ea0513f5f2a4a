import { setImmediate as nextTurn } from 'node:timers/promises'
import { QueueFullError } from '../port/serial-queue.ts'

export interface FairQueueLimits {
  /** The number of tasks that run at the same time. */
  readonly atOnce: number
  /** The number of tasks that may wait, of one subscriber and of all. */
  readonly maxWaitingEach?: number
  readonly maxWaiting?: number
  /** How long a task waits at most. */
  readonly waitLimitMs?: number
  /** The time of a monotonic clock. */
  monotonicMs?(): number
}

const defaults = { maxWaitingEach: 64, maxWaiting: 1_000, waitLimitMs: 5_000, monotonicMs: () => performance.now() }

interface WaitingTask {
  readonly askedMs: number
  start(): void
  refuse(error: Error): void
}

/**
 * Runs tasks of several subscribers, with a turn of the event loop before each. Subscribers take turns, so that a task waits for at most
 * one task of each other subscriber, however many these have.
 */
export class FairQueue {
  readonly #limits: Required<FairQueueLimits>
  /** The waiting tasks by subscriber; the next subscriber comes first. */
  readonly #waiting = new Map<string, WaitingTask[]>()
  readonly #idle: (() => void)[] = []
  #waitingCount = 0
  #running = 0

  constructor(limits: FairQueueLimits) {
    this.#limits = { ...defaults, ...limits }
  }

  /** @throws QueueFullError if too many tasks wait, or if the task has waited for too long */
  async run<Result>(subscriber: string, task: () => Promise<Result>): Promise<Result> {
    if (this.#running >= this.#limits.atOnce) await this.#turn(subscriber)
    else this.#running += 1
    try {
      return await task()
    } finally {
      // Without this turn, tasks that never wait would run one after another and block all input and output.
      void nextTurn().then(() => this.#next())
    }
  }

  /** Resolves when no task runs or waits. */
  async drain(): Promise<void> {
    if (this.#running > 0) await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  async #turn(subscriber: string): Promise<void> {
    const { maxWaitingEach, maxWaiting, monotonicMs } = this.#limits
    const own = this.#waiting.get(subscriber) ?? []
    if (own.length >= maxWaitingEach || this.#waitingCount >= maxWaiting) throw new QueueFullError()
    this.#waiting.set(subscriber, own)
    this.#waitingCount += 1
    await new Promise<void>((start, refuse) => own.push({ askedMs: monotonicMs(), start, refuse }))
  }

  /** Passes the place of a finished task to the next subscriber, or gives it back. */
  #next(): void {
    const { waitLimitMs, monotonicMs } = this.#limits
    for (let task = this.#take(); task !== undefined; task = this.#take()) {
      if (monotonicMs() - task.askedMs <= waitLimitMs) {
        task.start()
        return
      }
      task.refuse(new QueueFullError())
    }
    this.#running -= 1
    if (this.#running === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  #take(): WaitingTask | undefined {
    const [first] = this.#waiting
    if (first === undefined) return undefined
    const [subscriber, tasks] = first
    const task = tasks.shift()
    this.#waiting.delete(subscriber)
    if (tasks.length > 0) this.#waiting.set(subscriber, tasks)
    this.#waitingCount -= 1
    return task
  }
}
