/** The number of long answers that are built at the same time. Each may hold the texts that it has read. */
const MAX_BUILDING = 2
/** The number of long answers that may wait for one address. */
const MAX_WAITING_PER_ADDRESS = 32

/** The error for an address that asks for too many long answers at the same time. */
export class TooManyAnswers extends Error {
  override readonly name = 'TooManyAnswers'
  readonly retryAfterSeconds = 1
}

/** Builds long answers, a few at a time. Addresses take turns, so that one with many requests does not delay the others. */
export class BuildQueue {
  #building = 0
  /** The waiting builds by address; the next address comes first. */
  readonly #waiting = new Map<string, (() => void)[]>()

  /** @throws TooManyAnswers */
  async run<Result>(address: string, build: () => Promise<Result>): Promise<Result> {
    if (this.#building >= MAX_BUILDING) await this.#turn(address)
    else this.#building += 1
    try {
      return await build()
    } finally {
      this.#next()
    }
  }

  async #turn(address: string): Promise<void> {
    const waiting = this.#waiting.get(address) ?? []
    if (waiting.length >= MAX_WAITING_PER_ADDRESS) throw new TooManyAnswers()
    this.#waiting.set(address, waiting)
    await new Promise<void>((resolve) => waiting.push(resolve))
  }

  /** Passes the place of a finished build to the next address, or gives it back. */
  #next(): void {
    const [first] = this.#waiting
    if (first === undefined) {
      this.#building -= 1
      return
    }
    const [address, waiting] = first
    this.#waiting.delete(address)
    const start = waiting.shift()!
    if (waiting.length > 0) this.#waiting.set(address, waiting)
    start()
  }
}
