import type { Outcome } from '../metrics/gate-metrics.ts'
import type { Admitted, AdmissionRequest } from './admission.ts'
import type { RefusalKind } from './refusals.ts'

/** How one request ended; for counting and for the access log (O-1, O-13). */
export interface ExportEnding {
  readonly outcome: Outcome
  /** HTTP status, or `grpc-status` where the transport is gRPC. */
  readonly status: number
  /** `undefined` of what was refused before anyone looked for a credential. */
  readonly admissionRequest: AdmissionRequest | undefined
  readonly admitted: Admitted | undefined
  /** Of our own refusals that stand in the table. */
  readonly refusedAs: RefusalKind | undefined
  /** The text sent to the client for a body that is too large: it names the limit, which also holds for the inflated body. */
  readonly detail?: string | undefined
  /** Of the body, as far as it had come. */
  readonly wireBytes: number
  /** When it was handed on to upstream, where somebody wants to know; in milliseconds of the clock. */
  readonly sentAtMs: number | undefined
}

/** Told once of each request; of health probes and preflights not at all. */
export interface ExportObserver {
  ended(ending: ExportEnding): void
  /** Nobody was there any more to be answered. */
  clientAborted(): void
}
