/** The buffer of a `ProtobufWriter`, which is filled from its end. */
export interface ProtobufBuffer {
  readonly buffer: Buffer
  readonly view: DataView
  /** The offset of the newest byte. */
  start: number
  /** The number of written bytes. */
  readonly written: number
  /** Makes room for `bytes` more, which may replace `buffer` and `view`. */
  reserve(bytes: number): void
  raw(bytes: Uint8Array): void
  bytesBetween(start: number, end: number): Uint8Array
}
