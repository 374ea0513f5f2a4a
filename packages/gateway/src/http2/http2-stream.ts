import type { OutgoingHttpHeaders } from 'node:http2'

export interface ResponseOptions {
  readonly endStream?: boolean
  /** Whether the stream emits `wantTrailers` after its body, and ends with the trailers. */
  readonly waitForTrailers?: boolean
  readonly sendDate?: boolean
}

/**
 * A stream of an HTTP/2 connection, as its server uses it: the part of `ServerHttp2Stream` of node:http2 that the gateway needs,
 * with the same meaning. `ServerStream` implements it too.
 */
export interface Http2Stream {
  /** Whether the stream ended before its request was complete. */
  readonly aborted: boolean
  readonly closed: boolean
  readonly destroyed: boolean
  readonly headersSent: boolean
  readonly readableEnded: boolean
  on(event: 'data', listener: (piece: Buffer) => void): unknown
  on(event: 'end' | 'close' | 'wantTrailers', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  once(event: 'end' | 'close' | 'wantTrailers', listener: () => void): unknown
  pause(): unknown
  resume(): unknown
  respond(headers: OutgoingHttpHeaders, options?: ResponseOptions): void
  additionalHeaders(headers: OutgoingHttpHeaders): void
  write(piece: Uint8Array): unknown
  end(piece?: Uint8Array): unknown
  sendTrailers(headers: OutgoingHttpHeaders): void
  /** Ends the stream with RST_STREAM. */
  close(code?: number): void
  /** Calls `onTimeout` when the stream has neither received nor sent anything for `ms`; 0 never calls it. */
  setTimeout(ms: number, onTimeout?: () => void): unknown
}
