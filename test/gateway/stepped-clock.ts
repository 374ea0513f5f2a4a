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
 * A clock that stands still until a test sets it. It then wakes each sleeper that is due once, as after a machine was
 * suspended, so days pass without the work that is done every second.
 */
export class SteppedClock implements Clock {
  #nowMs: number
  #resumedAtMs: number | undefined
  readonly #sleepers = new Set<Sleeper>()

  constructor(nowMs: number) {
    this.#nowMs = nowMs
  }

  nowMs(): number {
    return this.#resumedAtMs === undefined
      ? this.#nowMs
      : this.#nowMs + Math.floor(performance.now() - this.#resumedAtMs)
  }

  nowNs(): bigint {
    return BigInt(this.nowMs()) * 1_000_000n
  }

  monotonicMs(): number {
    return this.nowMs()
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (ms <= 0) return
    if (this.#resumedAtMs !== undefined) return systemClock.sleep(ms, signal)
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

  advanceTo(atMs: number): void {
    this.#nowMs = atMs
    for (const sleeper of [...this.#sleepers]) if (sleeper.atMs <= atMs) sleeper.wake()
  }

  /** Wakes the tasks that run every second, one of which may have fallen asleep only after the clock was set. */
  wakeEverySecondTasks(): void {
    for (const sleeper of [...this.#sleepers]) if (sleeper.atMs <= this.#nowMs + 1_000) sleeper.wake()
  }

  /** Lets time pass normally from here on, so that timeouts end. */
  resume(): void {
    this.#resumedAtMs = performance.now()
    for (const sleeper of [...this.#sleepers]) sleeper.wake()
  }
}

export interface SteppedGateway extends RunningGateway {
  readonly clock: SteppedClock
  /** Sets the clock, and waits until the gateway has read its tokens at that time. */
  advanceTo(atMs: number): Promise<void>
}

/** Starts a gateway, or another role, with a clock that stands still. */
export async function startGatewayAt(
  nowMs: number,
  env: Readonly<Record<string, string>>,
  role: 'gateway' | 'observe' = 'gateway',
): Promise<SteppedGateway> {
  const clock = new SteppedClock(nowMs)
  const gateway = await startGateway(env, { clock, role })
  onTestFinished(() => clock.resume())
  return {
    ...gateway,
    clock,
    advanceTo: async (atMs) => {
      clock.advanceTo(atMs)
      const age = 'otelcol_ingestauth_snapshot_age_seconds'
      await until('the tokens are read', async () => {
        const [line] = await metricLines(gateway, age)
        if (line !== undefined && Number(line.slice(age.length)) < 1) return true
        clock.wakeEverySecondTasks()
        return false
      })
    },
  }
}
