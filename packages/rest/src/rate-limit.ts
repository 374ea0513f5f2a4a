import type { IncomingMessage } from 'node:http'
import type { Incoming } from '@penstock/http'
import { type Clock, subscriberOf } from '@penstock/runtime'
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import { RestError } from './rest-error.ts'
import type { Limit } from './route.ts'

/** How often the API may be called, whatever is called. */
export interface RateLimits {
  /** For each address. */
  readonly anonymous: Limit
  /** For each user. */
  readonly authenticated: Limit
}

export const defaultRateLimits: RateLimits = {
  anonymous: { count: 600, periodSeconds: 60 },
  authenticated: { count: 6_000, periodSeconds: 60 },
}

interface Count {
  readonly observed: number
  readonly isAbove: boolean
  /** Milliseconds since 1970. */
  readonly endsAtMs: number
  /** Whole seconds until then, at least 1. */
  readonly secondsLeft: number
}

/** Counted each for itself in one period; further ones share the counts of a few. */
const MAX_KEYS = 100_000
const SHARED_KEYS = 1_024

/**
 * Counts calls in periods that begin at multiples of their length since 1970, by a clock that may be anyone's. The
 * library's own periods begin with the first call and end by a timer, so each period of ours gets a counter that never
 * ends, and is dropped whole with all its keys.
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

  async count(key: string): Promise<Count> {
    const counter = this.#current()
    const { consumedPoints } = await counter.consume(this.#boundedKey(key)).catch((refusal: unknown) => {
      if (refusal instanceof RateLimiterRes) return refusal
      throw refusal
    })
    return this.#told(consumedPoints)
  }

  /** As if it had not been counted. */
  async uncount(key: string): Promise<void> {
    await this.#current().reward(this.#boundedKey(key))
  }

  /** What `count` would find, without counting. */
  async next(key: string): Promise<Count> {
    const counted = await this.#current().get(this.#boundedKey(key))
    return this.#told((counted?.consumedPoints ?? 0) + 1)
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

  #told(observed: number): Count {
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

/**
 * The request throttle.
 *
 * @see spec/rest-part2-details.md 1.8 A
 */
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

  /** Counts a request for its user, else for its address. @throws RestError 429 when it is one too many */
  async count({ raw, source }: Counted, userId?: number): Promise<void> {
    const headers =
      userId === undefined
        ? this.#admitted('anonymous', await this.#anonymous.count(subscriberOf(source)))
        : this.#admitted('authenticated', await this.#authenticated.count(String(userId)))
    this.#headers.set(raw, headers)
  }

  /** For one that was not anonymous after all: its user is counted in the place of the address. @throws RestError 429 */
  async recount(request: Counted, userId: number): Promise<void> {
    await this.#anonymous.uncount(subscriberOf(request.source))
    await this.count(request, userId)
  }

  /** What tells of its count; a refusal has its own. */
  headersOf(raw: IncomingMessage): Readonly<Record<string, string>> | undefined {
    return this.#headers.get(raw)
  }

  /**
   * Asked before a credential is looked up: an address whose whole allowance went into credentials that nobody knows has
   * none looked up until the period ends, right ones included.
   *
   * @throws RestError 429
   */
  async requireFailureAllowance({ source }: Counted): Promise<void> {
    this.#admitted('anonymous', await this.#failures.next(subscriberOf(source)))
  }

  /** Counts a credential that nobody knows. */
  async countFailure({ source }: Counted): Promise<void> {
    await this.#failures.count(subscriberOf(source))
  }

  #admitted(kind: keyof RateLimits, { observed, isAbove, endsAtMs, secondsLeft }: Count): Record<string, string> {
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
