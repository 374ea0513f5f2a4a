import { type Clock, systemClock } from '@penstock/runtime'
import { onTestFinished } from 'vitest'
import { metricLines } from './metrics-page.ts'
import { type RunningGateway, startGateway } from './running-gateway.ts'
import { until } from './until.ts'

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
  #flowsSinceMs: number | undefined
  readonly #sleepers = new Set<Sleeper>()

  constructor(nowMs: number) {
    this.#nowMs = nowMs
  }

  nowMs(): number {
    return this.#flowsSinceMs === undefined
      ? this.#nowMs
      : this.#nowMs + Math.floor(performance.now() - this.#flowsSinceMs)
  }

  nowNs(): bigint {
    return BigInt(this.nowMs()) * 1_000_000n
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (ms <= 0) return
    if (this.#flowsSinceMs !== undefined) return systemClock.sleep(ms, signal)
    await new Promise<void>((resolve, reject) => {
      const onAbort = () => {
        this.#sleepers.delete(sleeper)
        reject(signal?.reason)
      }
      const sleeper: Sleeper = {
        atMs: this.#nowMs + Math.ceil(ms),
        wake: () => {
          this.#sleepers.delete(sleeper)
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
    for (const sleeper of [...this.#sleepers]) if (sleeper.atMs <= atMs) sleeper.wake()
  }

  /** From here on time passes as it does, so that what ends by patience ends. */
  flow(): void {
    this.#flowsSinceMs = performance.now()
    for (const sleeper of [...this.#sleepers]) sleeper.wake()
  }
}

export interface GatewayInTime extends RunningGateway {
  readonly clock: LeapingClock
  /** Moves its clock, and waits until it has read its tokens at that time. */
  leapTo(atMs: number): Promise<void>
}

/** A gateway whose time stands still at first. */
export async function startGatewayAt(nowMs: number, env: Readonly<Record<string, string>>): Promise<GatewayInTime> {
  const clock = new LeapingClock(nowMs)
  const gateway = await startGateway(env, { clock })
  onTestFinished(() => clock.flow())
  return {
    ...gateway,
    clock,
    leapTo: async (atMs) => {
      clock.leapTo(atMs)
      const age = 'otelcol_ingestauth_snapshot_age_seconds'
      await until('the tokens are read', async () => {
        const [line] = await metricLines(gateway, age)
        return line !== undefined && Number(line.slice(age.length)) < 1
      })
    },
  }
}
