import type { Clock } from '@penstock/runtime'

interface Sleeper {
  atMs: number
  wake(): void
}

/** Not 0, because a time of 0 is easily mistaken for none. */
const FIRST_MONOTONIC_MS = 5_000

/** A clock that stands still until a test moves it. */
export class ManualClock implements Clock {
  #nowMs: number
  /** The difference of `monotonicMs`, so that the two times cannot be confused without a test that fails. */
  #monotonicOffsetMs: number
  #sleepers: Sleeper[] = []
  #watchers: { readonly count: number; resolve(): void }[] = []

  constructor(nowMs = 0) {
    this.#nowMs = nowMs
    this.#monotonicOffsetMs = FIRST_MONOTONIC_MS - nowMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  nowNs(): bigint {
    return BigInt(this.#nowMs) * 1_000_000n
  }

  monotonicMs(): number {
    return this.#nowMs + this.#monotonicOffsetMs
  }

  /** Sets the system time forward or back, as an operator or NTP does. Sleeps and durations are not affected. */
  stepSystemTime(ms: number): void {
    this.#nowMs += ms
    this.#monotonicOffsetMs -= ms
    for (const sleeper of this.#sleepers) sleeper.atMs += ms
  }

  /** The end times of the pending sleeps, soonest first. */
  get wakeTimesMs(): readonly number[] {
    return this.#sleepers.map((sleeper) => sleeper.atMs)
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (ms <= 0) return
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
        reject(signal?.reason)
      }
      const sleeper: Sleeper = {
        atMs: this.#nowMs + Math.ceil(ms),
        wake: () => {
          signal?.removeEventListener('abort', onAbort)
          resolve()
        },
      }
      signal?.addEventListener('abort', onAbort, { once: true })
      this.#add(sleeper)
    })
  }

  /** Resolves when `count` sleeps are pending, so that the code under test cannot proceed until time moves. */
  async untilSleeping(count = 1): Promise<void> {
    if (this.#sleepers.length >= count) return
    await new Promise<void>((resolve) => this.#watchers.push({ count, resolve }))
  }

  /**
   * Moves time forward and wakes sleepers in order, each at its own time. A sleeper that sleeps again at once is woken
   * again if its new time is within the same move.
   */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms
    for (let next = this.#nextUntil(endMs); next; next = this.#nextUntil(endMs)) {
      this.#nowMs = next.atMs
      next.wake()
      await settled()
    }
    this.#nowMs = endMs
  }

  /** Adds a sleeper. The sort is stable, so sleeps that end at the same time end in the order in which they began. */
  #add(sleeper: Sleeper): void {
    this.#sleepers = [...this.#sleepers, sleeper].toSorted((a, b) => a.atMs - b.atMs)
    const satisfied = this.#watchers.filter((watcher) => watcher.count <= this.#sleepers.length)
    this.#watchers = this.#watchers.filter((watcher) => !satisfied.includes(watcher))
    for (const watcher of satisfied) watcher.resolve()
  }

  #nextUntil(endMs: number): Sleeper | undefined {
    const first = this.#sleepers[0]
    return first && first.atMs <= endMs ? this.#sleepers.shift() : undefined
  }
}

/** Resolves after one turn of the event loop, when all promise reactions without I/O have run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
