import type { Clock } from '@penstock/runtime'

interface Sleeper {
  readonly atMs: number
  wake(): void
}

/**
 * Stands still until a test moves it, and then moves at once: whoever slept through is woken one time, as after a
 * machine was suspended. Days pass without the work that is done every second.
 */
export class LeapingClock implements Clock {
  #nowMs: number
  #sleepers = new Set<Sleeper>()

  constructor(nowMs: number) {
    this.#nowMs = nowMs
  }

  nowMs(): number {
    return this.#nowMs
  }

  nowNs(): bigint {
    return BigInt(this.#nowMs) * 1_000_000n
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (ms <= 0) return
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        this.#sleepers.delete(sleeper)
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
      this.#sleepers.add(sleeper)
    })
  }

  leapTo(atMs: number): void {
    this.#nowMs = atMs
    const over = [...this.#sleepers].filter((sleeper) => sleeper.atMs <= atMs)
    for (const sleeper of over) {
      this.#sleepers.delete(sleeper)
      sleeper.wake()
    }
  }
}
