import type { Credential } from './credential.ts'
import type { Refusal } from './refusals.ts'
import type { IngestSignal } from './signals.ts'
import type { TokenRecord } from './token-record.ts'
import type { Transport } from './transport.ts'

/** The reasons why a credential is rejected. They are the values of the label `reason` of metrics (E-1). */
export const reasons = [
  'missing',
  'malformed',
  'unknown',
  'bad_secret',
  'expired',
  'revoked',
  'disabled',
  'signal',
  'origin',
  'certificate',
] as const
export type Reason = (typeof reasons)[number]

/** The reason in metrics and the access log for a request with a valid token on a path that accepts no telemetry. */
export const WRONG_PATH = 'path'

/** The facts of a request that decide its admission, known before its body is read. */
export interface AdmissionRequest {
  readonly transport: Transport | 'forward-auth'
  readonly signal: IngestSignal
  readonly credential: Credential
  readonly origin: string | undefined
  /** The names in the client's certificate; `undefined` if the listener demands none. */
  readonly certificateNames: readonly string[] | undefined
  /** The address of the peer, or the client address reported by a trusted proxy. */
  readonly source: string
  readonly userAgent: string | undefined
  /** The request id that the client sent, not validated; for the access log only. */
  readonly requestId: string | undefined
  /** The wire length of the body, if it is known. */
  readonly declaredBytes: number | undefined
}

/**
 * The result of checking a credential. If its secret is correct, `token` is set and may be named to the client (T-8).
 */
export type Verdict =
  | { readonly allowed: true; readonly token: TokenRecord }
  | { readonly allowed: false; readonly reason: Reason; readonly token: TokenRecord | undefined }

export interface Admitted {
  readonly admitted: true
  /** The verified token. `undefined` if the request was admitted without a valid token. */
  readonly token: TokenRecord | undefined
  /** `off` if enforcement is off and there was no valid token. */
  readonly auth: 'verified' | 'unverified' | 'off'
  /** Why enforcement would reject this request. */
  readonly wouldReject: Reason | undefined
  /** A warning to the client, sent in a successful reply (E-5, O-9). */
  readonly warning: string | undefined
  /** The value of `x-ingest-token-expires` (O-9). */
  readonly expiresAt: string | undefined
  /** Set if the readiness report needs the service name from the body. */
  readonly sample: AdmissionRequest | undefined
}

export type Admission = Admitted | { readonly admitted: false; readonly refusal: Refusal }
