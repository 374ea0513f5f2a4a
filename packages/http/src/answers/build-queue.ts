import { ClientGone } from '../bodies/read-json.ts'

/** The number of long answers that are built at the same time. Each holds the texts that it has read. */
const MAX_BUILDING = 1
/** The number of long answers that may wait for one address. */
const MAX_WAITING_PER_ADDRESS = 32

/** The error for an address that asks for too many long answers at the same time. */
export class TooManyAnswers extends Error {
  override readonly name = 'TooManyAnswers'
  readonly retryAfterSeconds = 1
}

/** The client that waits for an answer. */
interface AnswerClient {
  readonly address: string
  /** Returns whether it has closed its connection, so that its answer need not be built. */
  isGone(): boolean
}

interface WaitingBuild {
  readonly client: AnswerClient
  start(): void
  fail(error: Error): void
}

/**
 * Builds long answers, one at a time. Addresses take turns, so that one with many requests does not delay the others. Answers for
 * clients that are gone are not built.
 */
export class BuildQueue {
  #building = 0
  /** The waiting builds by address; the next address comes first. */
  readonly #waiting = new Map<string, WaitingBuild[]>()

  /** @throws TooManyAnswers; ClientGone */
  async run<Result>(client: AnswerClient, build: () => Promise<Result>): Promise<Result> {
    if (this.#building >= MAX_BUILDING) await this.#turn(client)
    else this.#building += 1
    try {
      return await build()
    } finally {
      this.#next()
    }
  }

  async #turn(client: AnswerClient): Promise<void> {
    const { address } = client
    const waiting = (this.#waiting.get(address) ?? []).filter((build) => !endIfGone(build))
    if (waiting.length >= MAX_WAITING_PER_ADDRESS) throw new TooManyAnswers()
    await new Promise<void>((start, fail) => {
      waiting.push({ client, start, fail })
      this.#waiting.set(address, waiting)
    })
  }

  /** Passes the place of a finished build to the next address, or gives it back. */
  #next(): void {
    for (const [address, waiting] of this.#waiting) {
      this.#waiting.delete(address)
      const left = waiting.filter((build) => !endIfGone(build))
      const next = left.shift()
      if (left.length > 0) this.#waiting.set(address, left)
      if (next !== undefined) {
        next.start()
        return
      }
    }
    this.#building -= 1
  }
}

/** Ends the wait of a client that is gone, and returns whether it is. */
function endIfGone({ client, fail }: WaitingBuild): boolean {
  const isGone = client.isGone()
  if (isGone) fail(new ClientGone())
  return isGone
}
