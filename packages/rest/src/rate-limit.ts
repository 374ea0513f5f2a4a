import type { Clock } from '@penstock/runtime'
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

/** Who is counted. */
export interface Counted {
  readonly userId: number | undefined
  /** Of the peer. */
  readonly source: string
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
    const { count: points, periodSeconds } = this.#limit
    const nowMs = this.#clock.nowMs()
    const window = Math.floor(nowMs / (periodSeconds * 1_000))
    if (window !== this.#window || this.#counter === undefined) {
      this.#window = window
      this.#counter = new RateLimiterMemory({ points, duration: 0 })
      this.#keys = new Set()
    }
    const endsAtMs = (window + 1) * periodSeconds * 1_000
    const { consumedPoints } = await this.#counter.consume(this.#boundedKey(key)).catch((refusal: unknown) => {
      if (refusal instanceof RateLimiterRes) return refusal
      throw refusal
    })
    return {
      observed: consumedPoints,
      isAbove: consumedPoints > points,
      endsAtMs,
      secondsLeft: Math.max(1, Math.ceil((endsAtMs - nowMs) / 1_000)),
    }
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

/**
 * The request throttle.
 *
 * @see spec/rest-part2-details.md 1.8 A
 */
export class Throttle {
  readonly #limits: RateLimits
  readonly #anonymous: WindowLimiter
  readonly #authenticated: WindowLimiter

  constructor(limits: RateLimits, clock: Clock) {
    this.#limits = limits
    this.#anonymous = new WindowLimiter(limits.anonymous, clock)
    this.#authenticated = new WindowLimiter(limits.authenticated, clock)
  }

  /**
   * Counts one request.
   *
   * @returns the headers that tell of the count
   * @throws RestError 429
   */
  async admit({ userId, source }: Counted): Promise<Record<string, string>> {
    const isAnonymous = userId === undefined
    const { count: limit, periodSeconds } = isAnonymous ? this.#limits.anonymous : this.#limits.authenticated
    const { observed, isAbove, endsAtMs, secondsLeft } = await (isAnonymous
      ? this.#anonymous.count(networkOf(source))
      : this.#authenticated.count(String(userId)))
    const headers = {
      'RateLimit-Name': isAnonymous ? 'throttle_unauthenticated_api' : 'throttle_authenticated_api',
      'RateLimit-Limit': String(Math.ceil((limit * 60) / periodSeconds)),
      'RateLimit-Observed': String(observed),
      'RateLimit-Remaining': String(Math.max(0, limit - observed)),
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

/**
 * One address, or the 64 bits before an IPv6 interface: those behind them are one subscriber's to change as often as they
 * like.
 */
export function networkOf(source: string): string {
  if (!source.includes(':')) return source
  const [head = '', tail] = source.replace(/%.*$/, '').toLowerCase().split('::')
  const left = head.split(':').filter(Boolean)
  const right = (tail ?? '').split(':').filter(Boolean)
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  return [...left, ...Array<string>(zeros).fill('0'), ...right].slice(0, 4).join(':')
}
