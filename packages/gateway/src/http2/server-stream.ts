import { EventEmitter } from 'node:events'
import type { OutgoingHttpHeaders } from 'node:http2'
import { ErrorCode } from './frames.ts'
import type { Http2Stream, ResponseOptions } from './http2-stream.ts'

/** Writes the answers of the streams of a session. */
export interface AnswerOutput {
  sendHeaders(streamId: number, headers: OutgoingHttpHeaders, endsStream: boolean, hasDate: boolean): void
  /** Sends as much of the unsent body as the windows of the client allow. */
  sendBody(stream: ServerStream): void
}

/** The functions of a session that its streams use. */
export interface StreamOutput {
  readonly monotonicMs: () => number
  readonly answers: AnswerOutput
  sendReset(stream: ServerStream, code: number): void
  /** Records that the handler of the stream has taken bytes of the body, so that the client may send more. */
  consumed(stream: ServerStream, bytes: number): void
  forget(stream: ServerStream): void
  /** Ends the connection because of an error in the handler of a stream. */
  handlerFailed(error: unknown): void
}

/** Pieces that wait are joined up to this length, because a piece of one byte takes a hundred bytes of memory. */
const MAX_JOINED_BYTES = 1_024

/** After this many short pieces of one body, those that arrive in the same read are joined before they are passed on. */
const MAX_SHORT_PIECES = 8
/** A piece that is this much shorter than its allocation is copied before it waits. */
const MAX_HELD_RATIO = 4

const none = Buffer.alloc(0)

/** One stream of a `ServerSession`: a request and its response. */
export class ServerStream extends EventEmitter implements Http2Stream {
  readonly id: number
  aborted = false
  closed = false
  headersSent = false
  readableEnded = false
  /** The number of bytes that the client may still send. */
  receiveWindow: number
  /** The number of bytes that were taken since the client was last allowed to send more. */
  consumedBytes = 0
  /** The number of bytes that the client accepts. */
  sendWindow: number
  /** The pieces of the body of the response that wait for the client's window. */
  readonly unsent: Uint8Array[] = []
  /** Whether the body of the response is complete; it may still be unsent. */
  isBodyComplete = false
  hasTrailers = false
  /** The unsent bytes that the session has counted since the stream began to wait. */
  heldBytes = 0
  readonly #output: StreamOutput
  /** The declared length of the body of the request that has not arrived; -1 without a declaration. */
  #missingBytes: number
  #hasReceivedEnd = false
  #hasSentEnd = false
  #isPaused = false
  readonly #queue: Buffer[] = []
  /** The memory of the last piece in the queue, if it was joined from several, and its used part. */
  #joined: Buffer = none
  #joinedBytes = 0
  #shortPieces = 0
  #timeoutMs = 0
  #onTimeout: (() => void) | undefined
  #activeAtMs = 0

  constructor(
    id: number,
    output: StreamOutput,
    receiveWindow: number,
    sendWindow: number,
    contentLength: number | undefined,
  ) {
    super()
    this.id = id
    this.#output = output
    this.receiveWindow = receiveWindow
    this.sendWindow = sendWindow
    this.#missingBytes = contentLength ?? -1
  }

  get destroyed(): boolean {
    return this.closed
  }

  /** Whether the client has ended its side. */
  get hasReceivedEnd(): boolean {
    return this.#hasReceivedEnd
  }

  /** Takes a piece of the body, which the stream may keep. Returns whether the body is still within its declared length. */
  receive(piece: Buffer): boolean {
    // What arrives after the response does not show that the client reads the response.
    if (!this.isBodyComplete) this.#active()
    if (this.#missingBytes >= 0) {
      if (piece.length > this.#missingBytes) return false
      this.#missingBytes -= piece.length
    }
    if (this.#isPaused || this.#queue.length > 0) this.#wait(piece)
    else if (isShort(piece) && this.#shortPieces >= MAX_SHORT_PIECES) this.#passAfterRead(piece)
    else this.#pass(piece)
    return true
  }

  /** Takes the end of the request. Returns whether the body has its declared length. */
  receiveEnd(): boolean {
    if (this.#missingBytes > 0) return false
    this.#hasReceivedEnd = true
    this.#passEnd()
    return true
  }

  /** Ends the stream because the client or the connection has ended it. */
  abort(): void {
    if (this.closed) return
    this.aborted = true
    this.#finish()
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    if (this.#queue.length > 0 || this.#hasReceivedEnd) process.nextTick(this.#passQueue)
  }

  respond(headers: OutgoingHttpHeaders, options?: ResponseOptions): void {
    if (this.closed) return
    this.#active()
    this.headersSent = true
    this.hasTrailers = options?.waitForTrailers === true
    const endsStream = options?.endStream === true
    this.#output.answers.sendHeaders(this.id, headers, endsStream, options?.sendDate !== false)
    if (endsStream) this.sentEnd()
  }

  additionalHeaders(headers: OutgoingHttpHeaders): void {
    if (!this.closed) this.#output.answers.sendHeaders(this.id, headers, false, false)
  }

  write(piece: Uint8Array): void {
    if (this.closed) return
    this.#active()
    if (piece.length > 0) this.unsent.push(piece)
    this.#output.answers.sendBody(this)
  }

  end(piece?: Uint8Array): void {
    if (this.closed || this.isBodyComplete) return
    this.#active()
    if (piece !== undefined && piece.length > 0) this.unsent.push(piece)
    this.isBodyComplete = true
    this.#output.answers.sendBody(this)
  }

  sendTrailers(headers: OutgoingHttpHeaders): void {
    if (this.closed || this.#hasSentEnd) return
    this.#output.answers.sendHeaders(this.id, headers, true, false)
    this.sentEnd()
  }

  close(code: number = ErrorCode.NO_ERROR): void {
    if (this.closed) return
    this.#output.sendReset(this, code)
    this.#finish()
  }

  setTimeout(ms: number, onTimeout?: () => void): void {
    this.#timeoutMs = ms
    if (onTimeout !== undefined) this.#onTimeout = onTimeout
    if (ms > 0) this.#activeAtMs = this.#output.monotonicMs()
  }

  /** Enforces the time limit of the stream. Called every second. */
  sweep(nowMs: number): void {
    if (this.#timeoutMs === 0 || nowMs - this.#activeAtMs < this.#timeoutMs) return
    this.#activeAtMs = nowMs
    this.#onTimeout?.()
  }

  /** Records that the response has been sent completely. */
  sentEnd(): void {
    this.#hasSentEnd = true
    if (this.readableEnded) this.#finish()
  }

  #active(): void {
    if (this.#timeoutMs > 0) this.#activeAtMs = this.#output.monotonicMs()
  }

  #wait(piece: Buffer): void {
    const queue = this.#queue
    if (!isShort(piece)) {
      queue.push(compact(piece))
      this.#joined = none
      return
    }
    if (queue.length === 0 || this.#joinedBytes + piece.length > this.#joined.length) {
      this.#joined = Buffer.allocUnsafeSlow(MAX_JOINED_BYTES)
      this.#joinedBytes = 0
      queue.push(none)
    }
    piece.copy(this.#joined, this.#joinedBytes)
    this.#joinedBytes += piece.length
    queue[queue.length - 1] = this.#joined.subarray(0, this.#joinedBytes)
  }

  /** Passes the piece on together with others that arrive in the same read of the socket. */
  #passAfterRead(piece: Buffer): void {
    this.#wait(piece)
    process.nextTick(this.#passQueue)
  }

  #pass(piece: Buffer): void {
    if (isShort(piece)) this.#shortPieces += 1
    this.emit('data', piece)
    this.#output.consumed(this, piece.length)
  }

  readonly #passQueue = (): void => {
    try {
      while (!this.#isPaused && !this.closed && this.#queue.length > 0) this.#pass(compact(this.#queue.shift()!))
      if (this.#hasReceivedEnd) this.#passEnd()
    } catch (error) {
      this.#output.handlerFailed(error)
    }
  }

  #passEnd(): void {
    if (this.#isPaused || this.#queue.length > 0 || this.readableEnded || this.closed) return
    this.readableEnded = true
    this.emit('end')
    if (this.#hasSentEnd) this.#finish()
  }

  #finish(): void {
    if (this.closed) return
    this.closed = true
    this.#queue.length = 0
    this.unsent.length = 0
    this.#output.forget(this)
    this.emit('close')
  }
}

const isShort = (piece: Buffer): boolean => piece.length <= MAX_JOINED_BYTES / 2

/** Returns the piece, or a copy if the piece would hold a much larger allocation in memory. */
const compact = (piece: Buffer): Buffer =>
  piece.length * MAX_HELD_RATIO < piece.buffer.byteLength ? Buffer.from(piece) : piece
