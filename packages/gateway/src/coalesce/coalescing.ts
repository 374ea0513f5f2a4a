import type { Answer } from '../contract/answer.ts'
import type { ExportCall } from '../contract/export-call.ts'
import type { Upstream } from '../contract/upstream.ts'

export interface CoalesceSettings {
  /** The longest time that a body waits for others while a request of its lane is in flight. Default 5. */
  readonly windowMs: number
  /** The highest total size of the joined bodies. Default 1 MiB. */
  readonly maxBytes: number
  /** The highest number of joined bodies. Default 64. */
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
  /** The content encoding of joined bodies. Default identity. */
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

/** Joins bodies of one token into fewer upstream requests, and answers each body separately. */
export interface Coalescing {
  /**
   * Returns whether a body of `wireBytes` may be joined with others: its token is verified, it is protobuf and not
   * profiles, its content encoding can be read, and it is not too long.
   */
  accepts(call: ExportCall, wireBytes: number): boolean
  /** Sends the body, alone or joined with others. `body` is the body as it arrived, in its content encoding. */
  submit(call: ExportCall, body: Uint8Array, upstream: Upstream): Promise<Answer>
  /** Sends all waiting bodies, and resolves when every body has been answered. */
  flush(): Promise<void>
}
