import type { IncomingMessage } from 'node:http'
import type { Incoming } from '@penstock/http'
import { type Clock, subscriberOf } from '@penstock/runtime'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { RestError } from '../routing/rest-error.ts'
import type { Limit } from '../routing/route.ts'

/** The limits on requests to the API as a whole. */
export interface RateLimits {
  /** The limit for each address. */
  readonly anonymous: Limit
  /** The limit for each user. */
  readonly authenticated: Limit
}

export const defaultRateLimits: RateLimits = {
  anonymous: { count: 600, periodSeconds: 60 },
  authenticated: { count: 6_000, periodSeconds: 60 },
}

interface Count {
  readonly observed: number
  readonly isAbove: boolean
  /** The end of the period, in milliseconds since 1970. */
  readonly endsAtMs: number
  /** The whole seconds until the end of the period, at least 1. */
  readonly secondsLeft: number
}

/** The number of keys that are counted separately in one period; further keys share `SHARED_KEYS` counters. */
const MAX_KEYS = 100_000
const SHARED_KEYS = 1_024

/**
 * Counts requests per key in periods that begin at multiples of their length since 1970, by the given clock. The periods of
 * the library begin with the first request and end by a timer, so each period here uses a new library counter that never
 * expires, and drops it at the end.
 */
export class WindowLimiter {
  readonly #limit: Limit
  readonly #clock: Clock
  #window = Number.NaN
  #counter: RateLimiterMemory | undefined
  #keys = new Set<string>()

  constructor(limit: Limit, clock: Clock) {
    this.#limit = limit
    this.#clock = clock
  }

  /** Counts one request. */
  async count(key: string): Promise<Count> {
    const counter = this.#current()
    const { consumedPoints } = await counter.consume(this.#boundedKey(key)).catch((refusal: unknown) => {
      if (refusal instanceof RateLimiterRes) return refusal
      throw refusal
    })
    return this.#toCount(consumedPoints)
  }

  /** Reverses `count` for one request. */
  async uncount(key: string): Promise<void> {
    await this.#current().reward(this.#boundedKey(key))
  }

  /** Returns what `count` would return, without counting. */
  async peek(key: string): Promise<Count> {
    const counted = await this.#current().get(this.#boundedKey(key))
    return this.#toCount((counted?.consumedPoints ?? 0) + 1)
  }

  #current(): RateLimiterMemory {
    const { count: points, periodSeconds } = this.#limit
    const window = Math.floor(this.#clock.nowMs() / (periodSeconds * 1_000))
    if (window !== this.#window || this.#counter === undefined) {
      this.#window = window
      this.#counter = new RateLimiterMemory({ points, duration: 0 })
      this.#keys = new Set()
    }
    return this.#counter
  }

  #toCount(observed: number): Count {
    const { count, periodSeconds } = this.#limit
    const endsAtMs = (this.#window + 1) * periodSeconds * 1_000
    const secondsLeft = Math.max(1, Math.ceil((endsAtMs - this.#clock.nowMs()) / 1_000))
    return { observed, isAbove: observed > count, endsAtMs, secondsLeft }
  }

  #boundedKey(key: string): string {
    if (this.#keys.has(key)) return key
    if (this.#keys.size >= MAX_KEYS) return `shared:${hashOf(key) % SHARED_KEYS}`
    this.#keys.add(key)
    return key
  }
}

function hashOf(text: string): number {
  let hash = 0
  for (const letter of text) hash = (hash * 31 + letter.codePointAt(0)!) >>> 0
  return hash
}

type Counted = Pick<Incoming, 'raw' | 'source'>

/** The request throttle, with the limits and headers of GitLab's. */
export class Throttle {
  readonly #limits: RateLimits
  readonly #anonymous: WindowLimiter
  readonly #authenticated: WindowLimiter
  readonly #failures: WindowLimiter
  readonly #headers = new WeakMap<IncomingMessage, Record<string, string>>()

  constructor(limits: RateLimits, clock: Clock) {
    this.#limits = limits
    this.#anonymous = new WindowLimiter(limits.anonymous, clock)
    this.#authenticated = new WindowLimiter(limits.authenticated, clock)
    this.#failures = new WindowLimiter(limits.anonymous, clock)
  }

  /** Counts a request for its user, or for its address if it has none. @throws RestError 429 above the limit */
  async count({ raw, source }: Counted, userId?: number): Promise<void> {
    const headers =
      userId === undefined
        ? this.#requireWithinLimit('anonymous', await this.#anonymous.count(subscriberOf(source)))
        : this.#requireWithinLimit('authenticated', await this.#authenticated.count(String(userId)))
    this.#headers.set(raw, headers)
  }

  /** Counts a request for its user after it was counted for its address. @throws RestError 429 above the limit */
  async recount(request: Counted, userId: number): Promise<void> {
    await this.#anonymous.uncount(subscriberOf(request.source))
    await this.count(request, userId)
  }

  /** Returns the rate limit headers for the response. A 429 response has its own. */
  headersOf(raw: IncomingMessage): Readonly<Record<string, string>> | undefined {
    return this.#headers.get(raw)
  }

  /**
   * Rejects a request from an address that has sent too many unknown credentials in this period. Call it before looking up
   * a credential; valid ones are rejected too.
   *
   * @throws RestError 429
   */
  async requireFailureAllowance({ source }: Counted): Promise<void> {
    this.#requireWithinLimit('anonymous', await this.#failures.peek(subscriberOf(source)))
  }

  /** Counts an unknown credential. */
  async countFailure({ source }: Counted): Promise<void> {
    await this.#failures.count(subscriberOf(source))
  }

  /** Returns the rate limit headers. @throws RestError 429 above the limit */
  #requireWithinLimit(
    kind: keyof RateLimits,
    { observed, isAbove, endsAtMs, secondsLeft }: Count,
  ): Record<string, string> {
    const { count, periodSeconds } = this.#limits[kind]
    const headers = {
      'RateLimit-Name': throttleNames[kind],
      'RateLimit-Limit': String(Math.ceil((count * 60) / periodSeconds)),
      'RateLimit-Observed': String(observed),
      'RateLimit-Remaining': String(Math.max(0, count - observed)),
      'RateLimit-Reset': String(endsAtMs / 1_000),
    }
    if (!isAbove) return headers
    throw new RestError(429, 'Retry later\n', {
      ...headers,
      'RateLimit-ResetTime': new Date(endsAtMs).toUTCString(),
      'Retry-After': String(secondsLeft),
    })
  }
}

const throttleNames: Readonly<Record<keyof RateLimits, string>> = {
  anonymous: 'throttle_unauthenticated_api',
  authenticated: 'throttle_authenticated_api',
}
