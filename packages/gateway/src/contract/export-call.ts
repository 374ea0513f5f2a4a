import type { Encoding } from '@penstock/otlp'
import type { Admitted } from './admission.ts'
import type { ArrivingBody } from './arriving-body.ts'
import type { IngestSignal } from './signals.ts'
import type { Transport } from './transport.ts'

/** Header names and values in turn, like `rawHeaders` of node:http, with lower-case names. */
export type FlatHeaders = readonly string[]

export const noHeaders: FlatHeaders = []

/** An admitted export on its way to upstream, without its body. */
export interface ExportCall {
  readonly transport: Transport
  readonly signal: IngestSignal
  readonly encoding: Encoding
  /** The lower-case content encoding of the body, or of the gRPC message; '' for identity. */
  readonly contentEncoding: string
  /**
   * The client's headers to be forwarded: without hop-by-hop headers, content-length, content-type, content-encoding,
   * credentials and the headers that only the gateway may set.
   */
  readonly headers: FlatHeaders
  /** Headers that only the gateway may set. Empty until the gate sets them. All calls of a token share one array. */
  trusted: FlatHeaders
  /** The wire length of the body, if the client has declared it (Content-Length, gRPC frame). */
  readonly declaredBytes: number | undefined
  /** The monotonic time at which the client stops waiting. */
  readonly deadlineMs: number | undefined
  readonly admitted: Admitted
  /**
   * Aborts the call. Set by the component that currently handles the call; the front calls it when the client has gone.
   */
  onClientGone: (() => void) | undefined
  /** The bytes that the gate has reserved for this call in the budgets. */
  reservedBytes: number
  /** The body in the budget, while it arrives in pieces. */
  arriving: ArrivingBody | undefined
  /** The monotonic time when the gate passed the call on; set only if the access log needs it (O-13). */
  sentAtMs: number | undefined
}
