import type { Encoding, PartialSuccess } from '@penstock/otlp'

/** The result of one export, independent of the protocol. The HTTP and gRPC fronts encode it. */
export type Answer = Accepted | Refused

export interface Accepted {
  readonly kind: 'accepted'
  /** `undefined` if everything was accepted without a warning (P-6). */
  readonly partialSuccess: PartialSuccess | undefined
  /** The body of upstream's reply, passed on unchanged to a client with the same encoding. */
  readonly body: EncodedBody | undefined
}

export interface EncodedBody {
  readonly encoding: Encoding
  readonly bytes: Uint8Array
}

/**
 * Why an export was refused, and what that means for its data:
 *
 * - `rejected`: a final refusal: upstream accepted nothing of the body (400, 500, code 3 …)
 * - `too_large`: upstream found the body too large (413, or code 8 without RetryInfo)
 * - `throttled`: upstream accepted nothing, but may accept the body later (429, 503, code 14, code 8 with RetryInfo)
 * - `credential`: upstream refused the credential (401, 403)
 * - `unknown`: the connection broke, the deadline passed, or upstream sent 502 or 504; it may have accepted the body
 * - `unreachable`: nothing was sent
 */
export type RefusedCause = 'rejected' | 'too_large' | 'throttled' | 'credential' | 'unknown' | 'unreachable'

export interface Refused {
  readonly kind: 'refused'
  readonly cause: RefusedCause
  /** The status for HTTP clients (P-14); `grpcCode` is the one for gRPC clients (P-25). */
  readonly httpStatus: number
  readonly grpcCode: number
  readonly message: string
  /** Whole seconds, or the HTTP date that upstream sent. Always set if `httpStatus` is 429 or 503. */
  readonly retryAfter: number | string | undefined
  /** Upstream's google.rpc.Status, passed on unchanged to a client with the same encoding. */
  readonly status: EncodedBody | undefined
}
