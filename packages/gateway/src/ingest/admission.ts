import type { TokenRecord } from '../tokens/token-record.ts'
import type { Credential } from './credential.ts'
import type { Transport } from './export-call.ts'
import type { Refusal } from './refusals.ts'
import type { IngestSignal } from './signals.ts'

/** Why a credential does not open the gate; the label `reason` of the metrics (E-1). */
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

/** What a request shows before its body. */
export interface AdmissionRequest {
  readonly transport: Transport | 'forward-auth'
  readonly signal: IngestSignal
  readonly credential: Credential
  readonly origin: string | undefined
  /** Of the client's certificate; `undefined` where none is demanded. */
  readonly certificateNames: readonly string[] | undefined
  /** Address of the peer, or what a trusted proxy says it is. */
  readonly source: string
  readonly userAgent: string | undefined
  /** Chosen by the client: for the access log alone, and not yet looked at. */
  readonly requestId: string | undefined
  /** Wire bytes of the body, when known. */
  readonly declaredBytes: number | undefined
}

/** Of a right secret the token is known, and may be named to the client (T-8). */
export type Verdict =
  | { readonly allowed: true; readonly token: TokenRecord }
  | { readonly allowed: false; readonly reason: Reason; readonly token: TokenRecord | undefined }

export interface Admitted {
  readonly admitted: true
  /** `undefined` where nobody had to show one. A token whose verdict was a refusal is not here. */
  readonly token: TokenRecord | undefined
  /** `off`: enforcement is off and there was no valid token. */
  readonly auth: 'verified' | 'unverified' | 'off'
  /** Why this request would be refused under enforcement. */
  readonly wouldReject: Reason | undefined
  /** To be told to the client inside a successful reply (E-5, O-9). */
  readonly warning: string | undefined
  /** Value of `x-ingest-token-expires` (O-9). */
  readonly expiresAt: string | undefined
  /** Set when the readiness report wants to know whose body this is. */
  readonly sample: AdmissionRequest | undefined
}

export type Admission = Admitted | { readonly admitted: false; readonly refusal: Refusal }
