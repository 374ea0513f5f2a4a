import type { FrameHead } from './frame-reader.ts'
import { ErrorCode, Flag, INITIAL_WINDOW } from './frames.ts'
import type { ResetStreams } from './reset-streams.ts'
import type { ServerStream } from './server-stream.ts'

/** The window of a stream, from RFC 9113, and that of a connection, which is larger because bodies are taken at once. */
export const STREAM_WINDOW: number = INITIAL_WINDOW
export const CONNECTION_WINDOW = 1024 * 1024
/** A part of a larger allocation that is this much shorter is copied, so that it does not hold the whole allocation in memory. */
const MAX_HELD_RATIO = 64

/** The parts of a session that receiving DATA uses. */
interface DataSession {
  /** The open streams, by id. */
  readonly streams: ReadonlyMap<number, ServerStream>
  readonly resets: ResetStreams
  /** Sends WINDOW_UPDATE, for the connection if the id is 0. */
  grantWindow(streamId: number, bytes: number): void
  /** Ends a stream because of a fault of the client. `isOver`: the client sends nothing more on it. */
  streamError(streamId: number, code: number, isOver: boolean): void
  /** Ends the connection. */
  failed(code: number): void
}

/** Passes the content of DATA frames to their streams, within the windows of the client. */
export class DataReceiver {
  readonly #session: DataSession
  /** The stream of the current DATA frame; `undefined` if it is not open any more, so that the data is dropped. */
  #stream: ServerStream | undefined
  #endsStream = false
  #receiveWindow = CONNECTION_WINDOW

  constructor(session: DataSession) {
    this.#session = session
  }

  began({ streamId, flags, length }: FrameHead, overhead: number): void {
    this.#receiveWindow -= length
    if (this.#receiveWindow < 0) {
      this.#session.failed(ErrorCode.FLOW_CONTROL_ERROR)
      return
    }
    // Bodies are bounded by the windows of their streams, so the connection accepts further data at once.
    if (this.#receiveWindow < CONNECTION_WINDOW / 2) {
      this.#session.grantWindow(0, CONNECTION_WINDOW - this.#receiveWindow)
      this.#receiveWindow = CONNECTION_WINDOW
    }
    this.#stream = this.#streamForData(streamId, length)
    this.#endsStream = (flags & Flag.END_STREAM) !== 0
    if (this.#endsStream) this.#session.resets.delete(streamId)
    if (this.#stream !== undefined && overhead > 0) this.consumed(this.#stream, overhead)
  }

  #streamForData(streamId: number, length: number): ServerStream | undefined {
    const stream = this.#session.streams.get(streamId)
    if (stream === undefined) {
      if (!this.#session.resets.has(streamId)) this.#session.streamError(streamId, ErrorCode.STREAM_CLOSED, true)
      return undefined
    }
    if (stream.hasReceivedEnd) {
      this.#session.streamError(streamId, ErrorCode.STREAM_CLOSED, true)
      return undefined
    }
    stream.receiveWindow -= length
    if (stream.receiveWindow >= 0) return stream
    this.#session.streamError(streamId, ErrorCode.FLOW_CONTROL_ERROR, false)
    return undefined
  }

  read(content: Buffer): void {
    const stream = this.#stream
    if (stream === undefined || stream.closed) return
    const isHeldApart = content.length * MAX_HELD_RATIO < content.buffer.byteLength
    if (stream.receive(isHeldApart ? Buffer.from(content) : content)) return
    this.#session.streamError(stream.id, ErrorCode.PROTOCOL_ERROR, this.#endsStream)
  }

  ended(): void {
    const stream = this.#stream
    this.#stream = undefined
    if (stream === undefined || !this.#endsStream || stream.closed) return
    if (!stream.receiveEnd()) this.#session.streamError(stream.id, ErrorCode.PROTOCOL_ERROR, true)
  }

  /** Records that the handler of a stream has taken bytes of the body, so that the client may send more. */
  consumed(stream: ServerStream, bytes: number): void {
    stream.consumedBytes += bytes
    if (stream.consumedBytes < STREAM_WINDOW / 2 || stream.hasReceivedEnd || stream.closed) return
    this.#session.grantWindow(stream.id, stream.consumedBytes)
    stream.receiveWindow += stream.consumedBytes
    stream.consumedBytes = 0
  }
}
