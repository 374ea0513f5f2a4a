import type { Readable } from 'node:stream'
import type { Encoding } from '@penstock/otlp'
import type { Answer } from '../ingest/answer.ts'
import type { FlatHeaders } from '../ingest/export-call.ts'
import type { IngestSignal } from '../ingest/signals.ts'

/** One body on its way out: a client's own, or several joined. */
export interface UpstreamRequest {
  readonly signal: IngestSignal
  readonly encoding: Encoding
  /** '' is identity. */
  readonly contentEncoding: string
  /** Everything to be sent beside content-type, content-encoding, content-length and our own upstream credential. */
  readonly headers: FlatHeaders
  readonly body: Uint8Array | Readable
  /** Of a stream whose length is known beforehand. */
  readonly contentLength: number | undefined
  /** Milliseconds of the clock; beyond it the answer is `upstream_slow`. */
  readonly deadlineMs: number
  /** Receives a function that gives the request up: the connection is cut, and the answer does not matter any more. */
  readonly onAbortable?: (abort: () => void) => void
}

/** Something only an operator can mend. Told for every such answer; whoever writes it down limits how often. */
export interface UpstreamAlarm {
  /** Upstream refuses our own credential, or does not know OTLP's paths, or a watched file cannot be used. */
  readonly kind: 'credential' | 'misplaced' | 'file'
  readonly upstream: string
  readonly detail: string
}

/** Where telemetry goes. What goes wrong on the way is an answer; what is thrown is a bug. */
export interface Upstream {
  /** For labels and the log: origin and path, without userinfo. */
  readonly name: string
  /** Largest body it is known to take (C-6); for a batch, half of it counts. */
  readonly bodyLimitBytes: number
  send(request: UpstreamRequest): Promise<Answer>
  close(): Promise<void>
}
