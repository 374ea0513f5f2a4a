import type { Answer } from '../ingest/answer.ts'
import type { ExportCall } from '../ingest/export-call.ts'
import type { Upstream } from '../upstream/upstream.ts'

export interface CoalesceSettings {
  /** Longest wait for company while another request of the same key is under way. Default 5. */
  readonly windowMs: number
  /** Of the joined bodies. Default 1 MiB. */
  readonly maxBytes: number
  /** Default 64. */
  readonly maxBodies: number
  /**
   * The longest body that is joined, on the wire and inflated; copying a longer one costs more than its own request.
   * Default 16 KiB.
   */
  readonly maxBodyBytes: number
  /**
   * The longest gzip body that is joined, on the wire; inflating a longer one costs more than its own request. Default
   * 1 KiB.
   */
  readonly maxGzipBytes: number
  /** Coding of joined bodies on their way to upstream. Default identity. */
  readonly compression: 'identity' | 'gzip'
}

export const defaultCoalesceSettings: CoalesceSettings = {
  windowMs: 5,
  maxBytes: 1024 * 1024,
  maxBodies: 64,
  maxBodyBytes: 16 * 1024,
  maxGzipBytes: 1024,
  compression: 'identity',
}

/** Joins bodies of one owner into fewer upstream requests, and gives each its own answer. */
export interface Coalescing {
  /**
   * Tells whether this call, with a body of `wireBytes`, may be joined with others: authenticated, protobuf, not
   * profiles, a coding that can be read, not too long.
   */
  accepts(call: ExportCall, wireBytes: number): boolean
  /** `body` is the body as it arrived, still in its content encoding. Bodies that cannot be joined go alone. */
  submit(call: ExportCall, body: Uint8Array, upstream: Upstream): Promise<Answer>
  /** Sends what is waiting and resolves when nothing is under way. */
  flush(): Promise<void>
}
