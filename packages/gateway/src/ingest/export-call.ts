import type { Encoding } from '@penstock/otlp'
import type { Admitted } from './admission.ts'
import type { IngestSignal } from './signals.ts'

export type Transport = 'http' | 'grpc'

/** Names and values in turn, as `rawHeaders` of node:http has them; names in lower case. */
export type FlatHeaders = readonly string[]

export const noHeaders: FlatHeaders = []

/** One export that has been let in, on its way to an upstream. The body travels beside it, whole or as a stream. */
export interface ExportCall {
  readonly transport: Transport
  readonly signal: IngestSignal
  readonly encoding: Encoding
  /** Coding of the body as it arrived, lower case; '' is identity. Of gRPC: the message's own, '' when not compressed. */
  readonly contentEncoding: string
  /**
   * What the client sent and upstream may see: without hop-by-hop headers, content-length, content-type,
   * content-encoding, credentials and the headers that only we may set.
   */
  readonly headers: FlatHeaders
  /** Headers that only we may set; added by the gate, none at first. The same object for all calls of a token. */
  trusted: FlatHeaders
  /** Wire bytes of the body, when the client has said how many (Content-Length, gRPC frame). */
  readonly declaredBytes: number | undefined
  /** When the client stops waiting, in milliseconds of the clock. */
  readonly deadlineMs: number | undefined
  readonly admitted: Admitted
  /** Set by whoever carries the call; the front calls it when the client has gone. */
  onClientGone: (() => void) | undefined
  /** Kept by the gate: what this call holds of the budgets. 0 at first. */
  reservedBytes: number
  /** Set by the gate where the access log wants to know: when it was handed on, in milliseconds of the clock (O-13). */
  sentAtMs: number | undefined
}
