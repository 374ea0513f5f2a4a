import { performance } from 'node:perf_hooks'
import { TooManyAnswers } from './build-queue.ts'

const MIB = 1024 * 1024

interface UnreadLimits {
  /** The bytes of all answers that are built and not sent yet. */
  readonly maxBytes: number
  /** The bytes of one address. */
  readonly maxBytesPerAddress: number
  /** The time after which an answer that makes no progress gives way to others of its address. */
  readonly stalledMs: number
  /** The time of a monotonic clock. */
  nowMs(): number
}

const defaultLimits: UnreadLimits = {
  maxBytes: 64 * MIB,
  maxBytesPerAddress: 32 * MIB,
  stalledMs: 1_000,
  nowMs: () => performance.now(),
}

interface Unread {
  readonly address: string
  bytes: number
  progressMs: number
  /** Ends the answer. */
  readonly abandon: () => void
}

interface AnswerToHold {
  /** Ends the answer. */
  readonly abandon: () => void
  /** Whether the answer is sent in any case, because it reports a change that was made. */
  readonly mustSend: boolean
}

/** An answer that is counted until it is sent. */
interface HeldAnswer {
  /** Subtracts bytes that were passed on. */
  sent(bytes: number): void
  /** Subtracts the rest. May be called more than once. */
  release(): void
}

/**
 * Counts the bytes of answers that wait for their readers, per address and in total. When an address has too many, its answer
 * that waits longest without progress is ended. When there are too many in total, this happens to the address that has most.
 */
export class UnreadAnswers {
  readonly #limits: UnreadLimits
  readonly #byAddress = new Map<string, Set<Unread>>()

  constructor(limits: Partial<UnreadLimits> = {}) {
    this.#limits = { ...defaultLimits, ...limits }
  }

  /**
   * Counts an answer of an address.
   *
   * @throws TooManyAnswers if the answers of the address leave no room, and none of them is stalled
   */
  hold(address: string, bytes: number, { abandon, mustSend }: AnswerToHold): HeldAnswer {
    const { maxBytes, maxBytesPerAddress, nowMs } = this.#limits
    // For an answer that must be sent, the oldest one gives way although it makes progress.
    const makeRoom = mustSend ? this.#abandonOldest.bind(this) : this.#abandonStalled.bind(this)
    while (this.#addressBytes(address) + bytes > maxBytesPerAddress && this.#addressBytes(address) > 0)
      makeRoom(address)
    while (this.#totalBytes() + bytes > maxBytes) {
      const heaviest = this.#heaviestAddress()
      if (heaviest === undefined) break
      if (heaviest === address) makeRoom(address)
      else this.#abandonOldest(heaviest)
    }
    const unread: Unread = { address, bytes, progressMs: nowMs(), abandon }
    const own = this.#byAddress.get(address) ?? new Set()
    this.#byAddress.set(address, own.add(unread))
    return {
      sent: (count) => {
        unread.bytes -= count
        unread.progressMs = nowMs()
      },
      release: () => this.#release(unread),
    }
  }

  #abandonStalled(address: string): void {
    const oldest = this.#oldestAnswer(address)
    if (this.#limits.nowMs() - oldest.progressMs < this.#limits.stalledMs) throw new TooManyAnswers()
    this.#abandon(oldest)
  }

  #abandonOldest(address: string): void {
    this.#abandon(this.#oldestAnswer(address))
  }

  #abandon(unread: Unread): void {
    this.#release(unread)
    unread.abandon()
  }

  #release(unread: Unread): void {
    const own = this.#byAddress.get(unread.address)
    own?.delete(unread)
    if (own?.size === 0) this.#byAddress.delete(unread.address)
  }

  #oldestAnswer(address: string): Unread {
    return [...this.#byAddress.get(address)!].reduce((a, b) => (b.progressMs < a.progressMs ? b : a))
  }

  #addressBytes(address: string): number {
    let sum = 0
    for (const { bytes } of this.#byAddress.get(address) ?? []) sum += bytes
    return sum
  }

  #totalBytes(): number {
    let sum = 0
    for (const address of this.#byAddress.keys()) sum += this.#addressBytes(address)
    return sum
  }

  #heaviestAddress(): string | undefined {
    const addresses = [...this.#byAddress.keys()]
    if (addresses.length === 0) return undefined
    return addresses.reduce((a, b) => (this.#addressBytes(b) > this.#addressBytes(a) ? b : a))
  }
}
