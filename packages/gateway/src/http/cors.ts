import type { FlatHeaders } from '../contract/export-call.ts'
import { isOriginAllowed } from '../tokens/allowed-origins.ts'

const none: FlatHeaders = []
const varies: FlatHeaders = ['vary', 'Origin']
const exposed: FlatHeaders = ['access-control-expose-headers', 'Retry-After, WWW-Authenticate']
/** How long a browser may cache a preflight reply. */
const PREFLIGHT_SECONDS = '7200'

/** The CORS headers for a list of allowed origins (P-16). `*` allows any; see `isOriginAllowed` for other patterns. */
export class Cors {
  readonly #allowedOrigins: readonly string[]
  readonly #allowsAny: boolean

  constructor(allowedOrigins: readonly string[]) {
    this.#allowedOrigins = allowedOrigins
    this.#allowsAny = allowedOrigins.includes('*')
  }

  /** Returns the headers to add to every reply. */
  replyHeaders(origin: string | undefined): FlatHeaders {
    if (this.#allowedOrigins.length === 0) return none
    if (origin === undefined || !this.#allows(origin)) return varies
    return [...varies, 'access-control-allow-origin', this.#allowsAny ? '*' : origin, ...exposed]
  }

  /**
   * Returns the headers to add to the reply to OPTIONS. `requestedHeaders` are the headers that the browser asks to
   * send.
   */
  preflightHeaders(origin: string | undefined, requestedHeaders: string | undefined): FlatHeaders {
    if (origin === undefined || this.#allowedOrigins.length === 0 || !this.#allows(origin)) return none
    return [
      'access-control-allow-methods',
      'POST',
      'access-control-max-age',
      PREFLIGHT_SECONDS,
      ...(requestedHeaders === undefined ? [] : ['access-control-allow-headers', requestedHeaders]),
    ]
  }

  #allows(origin: string): boolean {
    return this.#allowsAny || isOriginAllowed(this.#allowedOrigins, origin)
  }
}
