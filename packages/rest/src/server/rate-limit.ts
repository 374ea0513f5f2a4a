import type { IncomingMessage } from 'node:http'
import { type Counted, type Limit, WindowCounter } from '@penstock/core'
import type { Incoming } from '@penstock/http'
import { type Clock, subscriberOf } from '@penstock/runtime'
import { RestError } from '../routing/rest-error.ts'

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

type CountedRequest = Pick<Incoming, 'raw' | 'source'>

/** The request throttle, with the limits and headers of GitLab's. */
export class Throttle {
  readonly #limits: RateLimits
  readonly #anonymous: WindowCounter
  readonly #authenticated: WindowCounter
  readonly #failures: WindowCounter
  readonly #refusalText: () => Promise<string | undefined>
  readonly #headers = new WeakMap<IncomingMessage, Record<string, string>>()

  /** @param refusalText returns the body of a 429 response; `undefined` for the usual one */
  constructor(limits: RateLimits, clock: Clock, refusalText: () => Promise<string | undefined>) {
    this.#limits = limits
    this.#refusalText = refusalText
    this.#anonymous = new WindowCounter(limits.anonymous.periodSeconds, clock)
    this.#authenticated = new WindowCounter(limits.authenticated.periodSeconds, clock)
    this.#failures = new WindowCounter(limits.anonymous.periodSeconds, clock)
  }

  /** Counts a request for its user, or for its address if it has none. @throws RestError 429 above the limit */
  async count({ raw, source }: CountedRequest, userId?: number): Promise<void> {
    const headers =
      userId === undefined
        ? await this.#requireWithinLimit('anonymous', this.#anonymous.count(subscriberOf(source)))
        : await this.#requireWithinLimit('authenticated', this.#authenticated.count(String(userId)))
    this.#headers.set(raw, headers)
  }

  /** Counts a request for its user after it was counted for its address. @throws RestError 429 above the limit */
  async recount(request: CountedRequest, userId: number): Promise<void> {
    this.#anonymous.uncount(subscriberOf(request.source))
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
  async requireFailureAllowance({ source }: CountedRequest): Promise<void> {
    await this.#requireWithinLimit('anonymous', this.#failures.peek(subscriberOf(source)))
  }

  /** Counts an unknown credential. */
  async countFailure({ source }: CountedRequest): Promise<void> {
    this.#failures.count(subscriberOf(source))
  }

  /** Returns the rate limit headers. @throws RestError 429 above the limit */
  async #requireWithinLimit(
    kind: keyof RateLimits,
    { observed, endsAtMs, secondsLeft }: Counted,
  ): Promise<Record<string, string>> {
    const { count, periodSeconds } = this.#limits[kind]
    const headers = {
      'RateLimit-Name': throttleNames[kind],
      'RateLimit-Limit': String(Math.ceil((count * 60) / periodSeconds)),
      'RateLimit-Observed': String(observed),
      'RateLimit-Remaining': String(Math.max(0, count - observed)),
      'RateLimit-Reset': String(endsAtMs / 1_000),
    }
    if (observed <= count) return headers
    throw new RestError(429, `${(await this.#refusalText()) || 'Retry later'}\n`, {
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
