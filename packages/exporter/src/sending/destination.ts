import type { Encoding } from '@penstock/otlp'
import type { RequestHeaders } from './request-headers.ts'

/** The endpoint that a record is sent to, looked up at the time of sending. */
export interface Destination {
  /** OTLP/HTTP base URL. */
  readonly url: string
  /** Sent as a bearer token. */
  readonly token: string | undefined
  /** Sent in addition to the token. */
  readonly headers?: RequestHeaders | undefined
  readonly encoding: Encoding
}
