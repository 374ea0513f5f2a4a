/** Which bodies are joined into one upstream request, and for how long they wait. */
export interface CoalesceSettings {
  /** The longest time that a body waits for others while a request of its lane is in flight. Default 5. */
  readonly windowMs: number
  /** The highest total size of the joined bodies. Default 1 MiB. */
  readonly maxBytes: number
  /** The highest number of joined bodies. Default 64. */
  readonly maxBodies: number
  /**
   * The longest body that is joined with others. It applies to the length as received and to the inflated length.
   * Copying a longer body costs more than sending it alone. Default 16 KiB.
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
