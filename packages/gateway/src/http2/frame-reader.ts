import { ErrorCode, Flag, FRAME_HEAD_BYTES, FrameType, MAX_FRAME_BYTES, PREFACE, readUint32 } from './frames.ts'

/** The head of a frame. */
export interface FrameHead {
  /** The length of the payload. */
  readonly length: number
  readonly type: number
  readonly flags: number
  readonly streamId: number
}

/** Receives the frames of a connection, in their order. */
interface FrameSink {
  /** Takes the head of each frame before its payload. Returns false if such a frame is an error, so that reading has stopped. */
  headRead(head: FrameHead): boolean
  /** Takes the complete payload of a frame other than DATA. */
  frameRead(head: FrameHead, payload: Buffer): void
  /** `overhead`: the bytes of padding, which belong to the payload. */
  dataBegan(head: FrameHead, overhead: number): void
  /** Takes a part of the content of a DATA frame. */
  dataRead(content: Buffer): void
  dataEnded(): void
  /** The bytes are no HTTP/2, or a frame is too long. */
  failed(code: number): void
}

const STREAM_ID_BITS = 0x7fffffff
const none = Buffer.alloc(0)

/** Divides the bytes of a connection into frames. Only DATA is passed on before it is complete, so little is kept. */
export class FrameReader {
  readonly #sink: FrameSink
  #hasPreface = false
  /** Bytes of an incomplete frame. */
  #rest: Buffer = none
  /** The bytes of the current DATA frame that have not arrived. */
  #missingContent = 0
  #missingPadding = 0
  #isStopped = false

  constructor(sink: FrameSink) {
    this.#sink = sink
  }

  /** Ignores what follows. */
  stop(): void {
    this.#isStopped = true
    this.#rest = none
  }

  read(piece: Buffer): void {
    const bytes = this.#rest.length === 0 ? piece : Buffer.concat([this.#rest, piece])
    this.#rest = none
    let at = 0
    while (at < bytes.length && !this.#isStopped) {
      const end = this.#readNext(bytes, at)
      if (end === undefined) {
        this.#rest = Buffer.from(bytes.subarray(at))
        return
      }
      at = end
    }
  }

  /** Returns the end of what was read; `undefined` if it is incomplete. */
  #readNext(bytes: Buffer, at: number): number | undefined {
    if (!this.#hasPreface) return this.#readPreface(bytes)
    if (this.#missingContent > 0 || this.#missingPadding > 0) return this.#readData(bytes, at)
    return this.#readFrame(bytes, at)
  }

  #readPreface(bytes: Buffer): number | undefined {
    const known = Math.min(PREFACE.length, bytes.length)
    if (!PREFACE.subarray(0, known).equals(bytes.subarray(0, known))) {
      this.#sink.failed(ErrorCode.PROTOCOL_ERROR)
      return known
    }
    if (known < PREFACE.length) return undefined
    this.#hasPreface = true
    return known
  }

  #readFrame(bytes: Buffer, at: number): number | undefined {
    const start = at + FRAME_HEAD_BYTES
    if (start > bytes.length) return undefined
    const length = (bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!
    const flags = bytes[at + 4]!
    const head = { length, type: bytes[at + 3]!, flags, streamId: readUint32(bytes, at + 5) & STREAM_ID_BITS }
    if (length > MAX_FRAME_BYTES) {
      this.#sink.failed(ErrorCode.FRAME_SIZE_ERROR)
      return start
    }
    if (!this.#sink.headRead(head)) return start
    if (head.type === FrameType.DATA) {
      const isPadded = (flags & Flag.PADDED) !== 0
      if (isPadded && start === bytes.length && length > 0) return undefined
      return this.#beginData(head, isPadded ? 1 + (length > 0 ? bytes[start]! : 0) : 0, start)
    }
    const end = start + length
    if (end > bytes.length) return undefined
    this.#sink.frameRead(head, bytes.subarray(start, end))
    return end
  }

  #beginData(head: FrameHead, overhead: number, start: number): number {
    if (overhead > head.length) {
      this.#sink.failed(ErrorCode.PROTOCOL_ERROR)
      return start
    }
    this.#missingContent = head.length - overhead
    this.#missingPadding = Math.max(0, overhead - 1)
    this.#sink.dataBegan(head, overhead)
    if (head.length - overhead === 0 && overhead <= 1) this.#endData()
    return overhead > 0 ? start + 1 : start
  }

  /** Reads on in a DATA frame, and returns the position after it or the end of the bytes. */
  #readData(bytes: Buffer, start: number): number {
    const contentBytes = Math.min(this.#missingContent, bytes.length - start)
    const contentEnd = start + contentBytes
    this.#missingContent -= contentBytes
    if (contentBytes > 0) this.#sink.dataRead(bytes.subarray(start, contentEnd))
    const padding = Math.min(this.#missingPadding, bytes.length - contentEnd)
    this.#missingPadding -= padding
    if (this.#missingContent === 0 && this.#missingPadding === 0) this.#endData()
    return contentEnd + padding
  }

  #endData(): void {
    if (!this.#isStopped) this.#sink.dataEnded()
  }
}
