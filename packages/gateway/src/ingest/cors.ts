import { isOriginAllowed } from '../tokens/allowed-origins.ts'
import type { FlatHeaders } from './export-call.ts'

const none: FlatHeaders = []
const varies: FlatHeaders = ['vary', 'Origin']
const exposed: FlatHeaders = ['access-control-expose-headers', 'Retry-After, WWW-Authenticate']
/** How long a browser may remember a preflight. */
const PREFLIGHT_SECONDS = '7200'

/** Which web pages may read our replies. `*` is any; others as `isOriginAllowed` has them (P-16). */
export class Cors {
  readonly #allowedOrigins: readonly string[]
  readonly #allowsAny: boolean

  constructor(allowedOrigins: readonly string[]) {
    this.#allowedOrigins = allowedOrigins
    this.#allowsAny = allowedOrigins.includes('*')
  }

  /** To be added to every reply, whatever it says. */
  replyHeaders(origin: string | undefined): FlatHeaders {
    if (this.#allowedOrigins.length === 0) return none
    if (origin === undefined || !this.#allows(origin)) return varies
    return [...varies, 'access-control-allow-origin', this.#allowsAny ? '*' : origin, ...exposed]
  }

  /** To be added to the reply to OPTIONS, beside `replyHeaders`. `requestedHeaders`: what the browser asks to send. */
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
