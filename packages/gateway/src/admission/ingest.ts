import type { Readable } from 'node:stream'
import type { Admission, AdmissionRequest } from '../contract/admission.ts'
import type { Answer } from '../contract/answer.ts'
import type { ExportCall } from '../contract/export-call.ts'
import type { Refusal } from '../contract/refusals.ts'
import type { WrongPathRequest } from '../contract/wrong-path.ts'

/** A body that is still arriving, so that it can be refused. */
export interface RefusableBody {
  /** Whether the gateway itself has paused reading. */
  readonly isPaused: boolean
  refuseBody(refusal: Refusal): void
}

/** The interface between the HTTP and gRPC fronts and the gate. */
export interface Ingest {
  /** Decides whether a request is admitted, before its body is read. Synchronous and cheap. */
  admit(admissionRequest: AdmissionRequest): Admission
  /** Counts, logs and reports a request on a wrong path if its token is valid. The caller refuses it. Must not throw. */
  recordWrongPath(request: WrongPathRequest): void
  /** Returns the longest body to be buffered and sent with `sendBuffered`; a longer one is sent with `sendStream`. */
  maxBufferedBytes(call: ExportCall): number
  /** Returns a refusal if there is no room even for the beginning of the body, so that the body need not be read. */
  refusalBeforeBody(call: ExportCall): Refusal | undefined
  /**
   * Reserves memory for a body that has arrived completely. Returns a refusal if the budget is exhausted. The reservation is
   * released when the call is answered.
   */
  reserve(call: ExportCall, bytes: number): Refusal | undefined
  /**
   * Reserves memory, in steps, for what has arrived of a body that is still arriving. Until `bodyEnded`, the body may be refused
   * later if the budget is exhausted and other bodies have made more progress.
   */
  reserveArrived(call: ExportCall, bytes: number, body: RefusableBody): Refusal | undefined
  /** Records that the end of the body has arrived, so that it can no longer be refused for lack of memory. */
  bodyEnded(call: ExportCall): void
  sendBuffered(call: ExportCall, body: Uint8Array): Promise<Answer>
  /** Streams a body. The stream must fail if the client goes away or the body is too large; this aborts the request. */
  sendStream(call: ExportCall, body: Readable): Promise<Answer>
  /** Releases the reservation of a call for which no `send…` method will be called. */
  abandon(call: ExportCall): void
}
