import type { Encoding, PartialSuccess } from '@penstock/otlp'

/** The end of one export, in terms of no protocol; either front can say it. */
export type Answer = Accepted | Refused

export interface Accepted {
  readonly kind: 'accepted'
  /** `undefined`: all of it, without remark (P-6). */
  readonly partialSuccess: PartialSuccess | undefined
  /** Upstream's own bytes, to be passed on unchanged to a client of the same encoding. */
  readonly body: EncodedBody | undefined
}

export interface EncodedBody {
  readonly encoding: Encoding
  readonly bytes: Uint8Array
}

/**
 * What a refusal says of the data.
 *
 * - `rejected`: upstream has judged this body, nothing of it was accepted, trying again would not help (400, 500, code 3 …)
 * - `too_large`: 413, or code 8 without RetryInfo
 * - `throttled`: 429, 503, code 14, code 8 with RetryInfo: nothing was accepted, later it may be
 * - `credential`: upstream refuses our own credential, 401 or 403
 * - `unknown`: it broke, was slow, or said 502 or 504 after bytes had been sent: upstream may have accepted it
 * - `unreachable`: no byte has been sent
 */
export type RefusedCause = 'rejected' | 'too_large' | 'throttled' | 'credential' | 'unknown' | 'unreachable'

export interface Refused {
  readonly kind: 'refused'
  readonly cause: RefusedCause
  /** For a client of HTTP and for one of gRPC, already as tables 1.1 P-14 and 1.2 P-25 want it. */
  readonly httpStatus: number
  readonly grpcCode: number
  readonly message: string
  /** Whole seconds, or the HTTP-date that upstream gave. Present whenever `httpStatus` is 429 or 503. */
  readonly retryAfter: number | string | undefined
  /** Upstream's google.rpc.Status, to be passed on unchanged to a client of the same encoding. */
  readonly status: EncodedBody | undefined
}
