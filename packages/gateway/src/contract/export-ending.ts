import type { AdmissionRequest, Admitted } from './admission.ts'
import type { RefusalKind } from './refusals.ts'

/** `refused` by the gateway, or a `failure` of the upstream. */
export type Outcome = 'success' | 'refused' | 'failure'

/** How a request ended, for metrics and the access log (O-1, O-13). */
export interface ExportEnding {
  readonly outcome: Outcome
  /** The HTTP status, or `grpc-status` for gRPC. */
  readonly status: number
  /** `undefined` if the request was refused before its credential was checked. */
  readonly admissionRequest: AdmissionRequest | undefined
  readonly admitted: Admitted | undefined
  /** The row of `refusalTable`, if the gateway itself refused the request. */
  readonly refusedAs: RefusalKind | undefined
  /** The message to the client if its body is too large. It names the limit, which also applies to inflated bodies. */
  readonly detail?: string | undefined
  /** The number of body bytes received. */
  readonly wireBytes: number
  /** The time of the clock when the request was passed to upstream, if the access log needs it. */
  readonly sentAtMs: number | undefined
}

/** Is notified once per request, except for health probes and preflights. */
export interface ExportObserver {
  ended(ending: ExportEnding): void
  /** The client went away before it was answered. */
  clientAborted(): void
}
