const INITIAL_BYTES = 16 * 1024
/** The size of the largest buffer that `reset` keeps. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024

/**
 * A buffer that is filled from its end, so that the length of a message is known when the bytes before it are written:
 *
 *     0            start                    buffer.length
 *     | free ...   | written, newest first  |
 *
 * Everything is therefore written in reverse: the last field first, and for each field the value, then its tag or name.
 * `written` counts from the end and stays valid when the buffer grows; absolute offsets do not.
 */
export class ReverseBuffer {
  buffer: Buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  view: DataView = new DataView(this.buffer.buffer)
  /** The offset of the newest byte. */
  start: number = INITIAL_BYTES

  /** The number of written bytes. */
  get written(): number {
    return this.buffer.length - this.start
  }

  /** Discards the written bytes. The buffer is kept unless it has grown unusually large. */
  reset(): void {
    if (this.buffer.length > MAX_KEPT_BYTES) this.#use(Buffer.allocUnsafeSlow(INITIAL_BYTES))
    this.start = this.buffer.length
  }

  /** Returns the written bytes, which are valid until the next write. */
  bytesView(): Uint8Array {
    return this.bytesBetween(this.start, this.buffer.length)
  }

  /** Returns the bytes between two offsets, which are valid until the next write. */
  bytesBetween(start: number, end: number): Uint8Array {
    return new Uint8Array(this.buffer.buffer, start, end - start)
  }

  /** Makes room for `bytes` more. Hot code calls this once and then writes to `buffer` directly. */
  reserve(bytes: number): void {
    if (this.start >= bytes) return
    const { written } = this
    const grown = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, written + bytes))
    const start = grown.length - written
    this.buffer.copy(grown, start, this.start)
    this.#use(grown)
    this.start = start
  }

  /** Writes one byte. */
  byte(value: number): void {
    this.reserve(1)
    this.buffer[--this.start] = value
  }

  /** Writes bytes as they are. */
  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length)
    this.start -= bytes.length
    this.buffer.set(bytes, this.start)
  }

  #use(buffer: Buffer): void {
    this.buffer = buffer
    this.view = new DataView(buffer.buffer)
  }
}
