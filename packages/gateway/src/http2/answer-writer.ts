import type { OutgoingHttpHeaders } from 'node:http2'
import type { FrameWriter } from './frame-writer.ts'
import { ErrorCode, Flag, FrameType, frameHead, INITIAL_WINDOW, MAX_FRAME_BYTES, MAX_WINDOW } from './frames.ts'
import { INITIAL_TABLE_BYTES } from './hpack/hpack-decoder.ts'
import type { UnsentBudget } from './limits/unsent-budget.ts'
import { headerBlock } from './response-headers.ts'
import type { AnswerOutput, ServerStream } from './server-stream.ts'

/** The representation of HPACK that sets the size of the table to 0. */
const NO_TABLE = String.fromCharCode(0x20)

const none = Buffer.alloc(0)

/** Writes the answers of the streams of one connection, as far as the windows of its client allow. */
export class AnswerWriter implements AnswerOutput {
  readonly #output: FrameWriter
  readonly #unsent: UnsentBudget
  readonly #nowMs: () => number
  readonly #onData: () => void
  /** Streams with a body that waits for a window. */
  readonly #blocked = new Set<ServerStream>()
  /** The window of the connection. */
  #sendWindow = INITIAL_WINDOW
  /** The size of the table that the client allows for the answers. It is not used, but a smaller one must be confirmed. */
  #sendTableBytes = INITIAL_TABLE_BYTES
  #confirmsTableSize = false

  /** @param onData is called for each DATA frame with content */
  constructor(output: FrameWriter, unsent: UnsentBudget, nowMs: () => number, onData: () => void) {
    this.#output = output
    this.#unsent = unsent
    this.#nowMs = nowMs
    this.#onData = onData
  }

  sendHeaders(streamId: number, headers: OutgoingHttpHeaders, endsStream: boolean, hasDate: boolean): void {
    const block = this.#tableSizeUpdate() + headerBlock(headers, hasDate ? this.#nowMs() : undefined)
    const endFlag = endsStream ? Flag.END_STREAM : 0
    if (block.length <= MAX_FRAME_BYTES) {
      this.#output.send(frameHead(block.length, FrameType.HEADERS, endFlag | Flag.END_HEADERS, streamId) + block)
      return
    }
    this.#output.send(
      frameHead(MAX_FRAME_BYTES, FrameType.HEADERS, endFlag, streamId) + block.slice(0, MAX_FRAME_BYTES),
    )
    for (let at = MAX_FRAME_BYTES; at < block.length; at += MAX_FRAME_BYTES) {
      const part = block.slice(at, at + MAX_FRAME_BYTES)
      const flags = at + MAX_FRAME_BYTES < block.length ? 0 : Flag.END_HEADERS
      this.#output.send(frameHead(part.length, FrameType.CONTINUATION, flags, streamId) + part)
    }
  }

  sendBody(stream: ServerStream): void {
    const { unsent } = stream
    while (unsent.length > 0) {
      const piece = unsent[0]!
      const bytes = Math.min(piece.length, stream.sendWindow, this.#sendWindow, MAX_FRAME_BYTES)
      if (bytes <= 0) {
        this.#holdUnsent(stream)
        return
      }
      stream.sendWindow -= bytes
      this.#sendWindow -= bytes
      if (bytes === piece.length) unsent.shift()
      else unsent[0] = piece.subarray(bytes)
      const endsStream = unsent.length === 0 && stream.isBodyComplete && !stream.hasTrailers
      this.#sendData(stream.id, bytes === piece.length ? piece : piece.subarray(0, bytes), endsStream)
      if (endsStream) {
        this.unblock(stream)
        stream.sentEnd()
        return
      }
    }
    this.unblock(stream)
    if (!stream.isBodyComplete) return
    if (stream.hasTrailers) {
      stream.emit('wantTrailers')
    } else {
      this.#sendData(stream.id, none, true)
      stream.sentEnd()
    }
  }

  /** Grants more to the window of the connection. Returns the code of the error of the connection, if there is one. */
  growWindow(more: number): number | undefined {
    const wasOpen = this.#sendWindow > 0
    this.#sendWindow += more
    if (more === 0) return ErrorCode.PROTOCOL_ERROR
    if (this.#sendWindow > MAX_WINDOW) return ErrorCode.FLOW_CONTROL_ERROR
    // While the window of the connection is open, streams wait only for their own windows.
    if (!wasOpen) this.sendBlocked()
    return undefined
  }

  isBlocked(stream: ServerStream): boolean {
    return this.#blocked.has(stream)
  }

  setTableSize(bytes: number): void {
    if (bytes < this.#sendTableBytes) this.#confirmsTableSize = true
    this.#sendTableBytes = bytes
  }

  /** Returns the beginning of the next header block, which confirms a smaller table (RFC 7541, section 4.2). */
  #tableSizeUpdate(): string {
    if (!this.#confirmsTableSize) return ''
    this.#confirmsTableSize = false
    return NO_TABLE
  }

  /** Keeps the unsent part of a response until the client grants a window, if there is room for it. */
  #holdUnsent(stream: ServerStream): void {
    const bytes = stream.unsent.reduce((sum, { length }) => sum + length, 0)
    this.#unsent.release(stream.heldBytes)
    stream.heldBytes = 0
    if (!this.#unsent.hold(bytes)) {
      stream.close(ErrorCode.ENHANCE_YOUR_CALM)
      return
    }
    stream.heldBytes = bytes
    this.#blocked.add(stream)
  }

  unblock(stream: ServerStream): void {
    if (!this.#blocked.delete(stream)) return
    this.#unsent.release(stream.heldBytes)
    stream.heldBytes = 0
  }

  sendBlocked(): void {
    for (const stream of this.#blocked) {
      if (this.#sendWindow <= 0) return
      this.sendBody(stream)
    }
  }

  #sendData(streamId: number, bytes: Uint8Array, endsStream: boolean): void {
    this.#output.send(frameHead(bytes.length, FrameType.DATA, endsStream ? Flag.END_STREAM : 0, streamId))
    this.#output.sendBytes(bytes)
    if (bytes.length > 0) this.#onData()
  }
}
