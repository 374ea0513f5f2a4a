import { DomainError } from '@penstock/core'
import { type Clock, subscriberOf } from '@penstock/runtime'
import type { RestRoute } from '../routing/route.ts'
import { WindowLimiter } from './rate-limit.ts'

/** The counters for the limits of single routes, by the names of the limits. */
export class RowLimits {
  readonly #clock: Clock
  readonly #limiters = new Map<string, WindowLimiter>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @throws DomainError `too_often` */
  async count({ limit }: RestRoute, userId: number | undefined, source: string): Promise<void> {
    if (limit === undefined) return
    const limiter = this.#limiters.get(limit.name) ?? new WindowLimiter(limit, this.#clock)
    this.#limiters.set(limit.name, limiter)
    const { isAbove, secondsLeft } = await limiter.count(userId === undefined ? subscriberOf(source) : `user:${userId}`)
    if (isAbove) throw new DomainError({ code: 'too_often', retryAfterSeconds: secondsLeft })
  }
}
