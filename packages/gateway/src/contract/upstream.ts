import type { Readable } from 'node:stream'
import type { Encoding } from '@penstock/otlp'
import type { Answer } from './answer.ts'
import type { FlatHeaders } from './export-call.ts'
import type { IngestSignal } from './signals.ts'

/** One request to upstream: the body of one client, or several joined bodies. */
export interface UpstreamRequest {
  readonly signal: IngestSignal
  readonly encoding: Encoding
  /** '' for identity. */
  readonly contentEncoding: string
  /** All headers except content-type, content-encoding, content-length and the gateway's own credential. */
  readonly headers: FlatHeaders
  readonly body: Uint8Array | Readable
  /** The length of the body, if it is known beforehand. */
  readonly contentLength: number | undefined
  /** The monotonic time after which the request is answered with `upstream_slow`. */
  readonly deadlineMs: number
  /** Receives a function that aborts the request and closes its connection. The answer is then ignored. */
  readonly onAbortable?: (abort: () => void) => void
}

/**
 * A problem that only an operator can solve. Reported for every affected answer; the receiver limits how often it logs.
 */
export interface UpstreamAlarm {
  /** Upstream refuses the gateway's credential or does not serve the OTLP paths, or a watched file cannot be used. */
  readonly kind: 'credential' | 'misplaced' | 'file'
  readonly upstream: string
  readonly detail: string
}

/** A destination of telemetry. Reports failures as answers; a thrown error is a bug. */
export interface Upstream {
  /** The name for labels and logs: origin and path, without user information. */
  readonly name: string
  /** The largest body that upstream accepts (C-6). Batches use at most half of it. */
  readonly bodyLimitBytes: number
  send(request: UpstreamRequest): Promise<Answer>
  close(): Promise<void>
}
