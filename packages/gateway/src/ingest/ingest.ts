import type { Readable } from 'node:stream'
import type { Admission, AdmissionRequest } from '../contract/admission.ts'
import type { Answer } from '../contract/answer.ts'
import type { ExportCall } from '../contract/export-call.ts'
import type { Refusal } from '../contract/refusals.ts'

/** The interface between the HTTP and gRPC fronts and the gate. */
export interface Ingest {
  /** Decides whether a request is admitted, before its body is read. Synchronous and cheap. */
  admit(admissionRequest: AdmissionRequest): Admission
  /** Returns the longest body to be buffered and sent with `sendBuffered`; a longer one is sent with `sendStream`. */
  maxBufferedBytes(call: ExportCall): number
  /**
   * Reserves memory for the bytes of a body. Returns a refusal if the budget is exhausted. The reservation is
   * released when the call is answered. Call it for each piece of a body of unknown length.
   */
  reserve(call: ExportCall, bytes: number): Refusal | undefined
  sendBuffered(call: ExportCall, body: Uint8Array): Promise<Answer>
  /** Streams a body. The stream must fail if the client goes away or the body is too large; this aborts the request. */
  sendStream(call: ExportCall, body: Readable): Promise<Answer>
  /** Releases the reservation of a call for which no `send…` method will be called. */
  abandon(call: ExportCall): void
}
