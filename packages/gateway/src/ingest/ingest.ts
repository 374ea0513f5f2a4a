import type { Readable } from 'node:stream'
import type { Admission, AdmissionRequest } from './admission.ts'
import type { Answer } from './answer.ts'
import type { ExportCall } from './export-call.ts'
import type { Refusal } from './refusals.ts'

/** What a front, whatever protocol it speaks, needs of the gate. */
export interface Ingest {
  /** On headers alone, before a byte of the body is read; synchronous and cheap. */
  admit(admissionRequest: AdmissionRequest): Admission
  /** Returns the length up to which a body is held until it is complete, for `sendWhole`; a longer one goes to `sendStream`. */
  maxHeldBytes(call: ExportCall): number
  /**
   * Room for the bytes of a body, within the budgets of X-3; a refusal when there is none. What was taken is given back
   * when the answer is there. Bodies of unknown length take as they arrive.
   */
  reserve(call: ExportCall, bytes: number): Refusal | undefined
  sendWhole(call: ExportCall, body: Uint8Array): Promise<Answer>
  /** The stream fails with an error when the client breaks off or the body grows too large; upstream is then cut off. */
  sendStream(call: ExportCall, body: Readable): Promise<Answer>
  /** The body of this call will not come, so neither `send…` is called: gives back what `reserve` took. */
  abandon(call: ExportCall): void
}
