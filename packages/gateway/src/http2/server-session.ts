import type { OutgoingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import type { Clock } from '@penstock/runtime'
import { type FrameHead, FrameReader } from './frame-reader.ts'
import { FrameWriter, type UnsentHold } from './frame-writer.ts'
import {
  ErrorCode,
  Flag,
  FrameType,
  frameHead,
  goawayFrame,
  MAX_FRAME_BYTES,
  PING_BYTES,
  pingAck,
  readUint32,
  rstStream,
  Setting,
  settingsAck,
  settingsFrame,
  windowUpdate,
} from './frames.ts'
import { HpackDecoder, HpackError } from './hpack/hpack-decoder.ts'
import { PingLimit } from './ping-limit.ts'
import { areTrailers, type Http2Head, readHttp2Head, withOtherTimeout } from './request-head.ts'
import { ResetLimit } from './reset-limit.ts'
import { headerBlock } from './response-headers.ts'
import { ServerStream, type StreamOutput } from './server-stream.ts'
import type { UnsentBudget } from './unsent-budget.ts'

/** Begins the streams of a session. Its methods must not throw. */
export interface StreamHandler {
  /** @param hasBody whether the request has not ended with its head */
  streamBegan(stream: ServerStream, head: Http2Head, hasBody: boolean): void
  streamEnded(): void
  /** An error of the gateway's own code, which ends the connection. */
  failed(error: unknown): void
}

export interface SessionSettings {
  readonly maxStreams: number
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  /** Shared by all sessions of a listener. */
  readonly unsent: UnsentBudget
}

/** The parts of a socket that a session uses. */
export type SessionSocket = Pick<Socket, 'destroyed' | 'destroySoon' | 'on' | 'once' | 'writableEnded' | 'write'>

/** The window of a stream, from RFC 9113, and that of a connection, which is larger because bodies are taken at once. */
const STREAM_WINDOW = 65_535
const CONNECTION_WINDOW = 1024 * 1024
const MAX_WINDOW = 2 ** 31 - 1
const HPACK_TABLE_BYTES = 4_096
const MAX_HEADER_LIST_BYTES = 64 * 1024
const MAX_HEADER_FIELDS = 128
/** The limits of a header block, as it is sent. CONTINUATION frames may be empty, so their number is limited too. */
const MAX_BLOCK_BYTES = 64 * 1024
const MAX_BLOCK_FRAMES = 16
/** Frames for streams that the gateway has reset are ignored. This is how many of these streams are remembered. */
const MAX_REMEMBERED_RESETS = 1_000
/** A part of a larger allocation that is this much shorter is copied, so that it does not hold the whole allocation in memory. */
const MAX_HELD_RATIO = 64

/** The representation of HPACK that sets the size of the table to 0. */
const NO_TABLE = String.fromCharCode(0x20)

const none = Buffer.alloc(0)

/** The payloads of a HEADERS frame and of those that continue it. */
interface HeaderBlock {
  readonly streamId: number
  readonly endsStream: boolean
  /** Whether the stream has a priority that depends on the stream itself, which is an error of the stream. */
  readonly dependsOnItself: boolean
  readonly pieces: Buffer[]
  bytes: number
}

/**
 * The server's side of one HTTP/2 connection, read directly from its socket. It serves requests; it neither pushes nor
 * accepts priorities. A fault of the client ends the stream or the connection as RFC 9113 demands.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9113.html
 * @see docs/contributing/decisions/0021-http2-without-node.md
 */
export class ServerSession implements StreamOutput {
  readonly monotonicMs: () => number
  readonly #clock: SessionSettings['clock']
  readonly #socket: SessionSocket
  readonly #reader = new FrameReader({
    headRead: (head) => this.#headRead(head),
    frameRead: (head, payload) => this.#frameRead(head, payload),
    dataBegan: (head, overhead) => this.#dataBegan(head, overhead),
    dataRead: (content) => this.#dataRead(content),
    dataEnded: () => this.#dataEnded(),
    failed: (code) => this.#fail(code),
  })
  readonly #output: FrameWriter
  readonly #handler: StreamHandler
  readonly #maxStreams: number
  readonly #hpack = new HpackDecoder({
    tableBytes: HPACK_TABLE_BYTES,
    maxListBytes: MAX_HEADER_LIST_BYTES,
    maxFields: MAX_HEADER_FIELDS,
  })
  readonly #unsent: UnsentBudget
  readonly #pings = new PingLimit()
  readonly #resets = new ResetLimit()
  readonly #streams = new Map<number, ServerStream>()
  /** Streams with a body that waits for a window. */
  readonly #blocked = new Set<ServerStream>()
  /** Streams that the gateway has reset before the client had ended them. */
  readonly #resetIds = new Set<number>()
  /** The two heads that were read last. A client repeats its head, and the decoder then returns the same array. */
  #lastHead: Http2Head | undefined
  #headBefore: Http2Head | undefined
  /** The highest id of a stream that the client has begun. */
  #lastStreamId = 0
  /** Streams with a higher id are refused, after GOAWAY. */
  #lastAcceptedId = MAX_WINDOW
  #hasSettings = false
  /** The stream of the current DATA frame; `undefined` if it is not open any more, so that the data is dropped. */
  #dataStream: ServerStream | undefined
  #dataEndsStream = false
  /** The header block that CONTINUATION frames must complete. */
  #block: HeaderBlock | undefined
  #receiveWindow = CONNECTION_WINDOW
  #sendWindow = 65_535
  #initialSendWindow = 65_535
  #isEnded = false
  /** The size of the table that the client allows for the answers. It is not used, but a smaller one must be confirmed. */
  #sendTableBytes = HPACK_TABLE_BYTES
  #confirmsTableSize = false

  constructor(
    socket: SessionSocket,
    hold: UnsentHold,
    handler: StreamHandler,
    { maxStreams, clock, unsent }: SessionSettings,
  ) {
    this.#socket = socket
    this.#output = new FrameWriter(socket, hold)
    this.#handler = handler
    this.#maxStreams = maxStreams
    this.monotonicMs = () => clock.monotonicMs()
    this.#clock = clock
    this.#unsent = unsent
    socket.on('data', this.#onData)
    socket.on('end', this.#onGone)
    socket.on('close', this.#onGone)
    this.#output.send(
      settingsFrame([
        [Setting.MAX_CONCURRENT_STREAMS, maxStreams],
        [Setting.MAX_HEADER_LIST_SIZE, MAX_HEADER_LIST_BYTES],
      ]) + windowUpdate(0, CONNECTION_WINDOW - 65_535),
    )
  }

  get destroyed(): boolean {
    return this.#isEnded || this.#socket.destroyed
  }

  /** Asks the client to open no stream with an id above `lastStreamId`. */
  goaway(code: number, lastStreamId: number): void {
    this.#output.send(goawayFrame(lastStreamId, code, ''))
  }

  /** Refuses further streams, and ends the connection when the open ones have ended. */
  close(): void {
    if (this.#isEnded || this.#lastAcceptedId !== MAX_WINDOW) return
    this.#lastAcceptedId = this.#lastStreamId
    this.goaway(ErrorCode.NO_ERROR, this.#lastStreamId)
    if (this.#streams.size === 0) this.#end()
  }

  /** Enforces the time limits of the streams. Called every second. */
  sweep(nowMs: number): void {
    for (const stream of this.#streams.values()) stream.sweep(nowMs)
  }

  sendHeaders(streamId: number, headers: OutgoingHttpHeaders, endsStream: boolean, hasDate: boolean): void {
    const block = this.#tableSizeUpdate() + headerBlock(headers, hasDate ? this.#clock.nowMs() : undefined)
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
        this.#unblock(stream)
        stream.sentEnd()
        return
      }
    }
    this.#unblock(stream)
    if (!stream.isBodyComplete) return
    if (stream.hasTrailers) {
      stream.emit('wantTrailers')
    } else {
      this.#sendData(stream.id, none, true)
      stream.sentEnd()
    }
  }

  sendReset(stream: ServerStream, code: number): void {
    this.#sendReset(stream.id, code, stream.hasReceivedEnd)
  }

  consumed(stream: ServerStream, bytes: number): void {
    stream.consumedBytes += bytes
    if (stream.consumedBytes < STREAM_WINDOW / 2 || stream.hasReceivedEnd || stream.closed) return
    this.#output.send(windowUpdate(stream.id, stream.consumedBytes))
    stream.receiveWindow += stream.consumedBytes
    stream.consumedBytes = 0
  }

  forget(stream: ServerStream): void {
    this.#streams.delete(stream.id)
    this.#unblock(stream)
    this.#handler.streamEnded()
    if (this.#streams.size === 0 && this.#lastAcceptedId !== MAX_WINDOW) this.#end()
  }

  handlerFailed(error: unknown): void {
    this.#handler.failed(error)
    this.#fail(ErrorCode.INTERNAL_ERROR)
  }

  readonly #onData = (piece: Buffer): void => {
    if (this.#isEnded) return
    try {
      this.#reader.read(piece)
    } catch (error) {
      if (error instanceof HpackError) this.#fail(ErrorCode.COMPRESSION_ERROR)
      else this.handlerFailed(error)
    }
  }

  readonly #onGone = (): void => {
    this.#isEnded = true
    this.#reader.stop()
    for (const stream of [...this.#streams.values()]) {
      try {
        stream.abort()
      } catch (error) {
        this.#handler.failed(error)
      }
    }
  }

  #headRead({ type, flags }: FrameHead): boolean {
    const lacksSettings = !this.#hasSettings && (type !== FrameType.SETTINGS || (flags & Flag.ACK) !== 0)
    if (!lacksSettings && (this.#block !== undefined) === (type === FrameType.CONTINUATION)) return true
    this.#fail(ErrorCode.PROTOCOL_ERROR)
    return false
  }

  #frameRead({ type, flags, streamId, length }: FrameHead, payload: Buffer): void {
    switch (type) {
      case FrameType.HEADERS:
        this.#headers(streamId, flags, payload)
        break
      case FrameType.CONTINUATION:
        this.#continuation(streamId, flags, payload)
        break
      case FrameType.PRIORITY:
        this.#priority(streamId, payload)
        break
      case FrameType.RST_STREAM:
        this.#rstStream(streamId, length)
        break
      case FrameType.SETTINGS:
        this.#settings(streamId, flags, payload)
        break
      case FrameType.PING:
        this.#ping(streamId, flags, payload)
        break
      case FrameType.GOAWAY:
        if (streamId !== 0) this.#fail(ErrorCode.PROTOCOL_ERROR)
        else if (length < 8) this.#fail(ErrorCode.FRAME_SIZE_ERROR)
        break
      case FrameType.WINDOW_UPDATE:
        this.#windowUpdate(streamId, payload)
        break
      case FrameType.PUSH_PROMISE:
        this.#fail(ErrorCode.PROTOCOL_ERROR)
        break
    }
  }

  #dataBegan({ streamId, flags, length }: FrameHead, overhead: number): void {
    if (streamId === 0 || this.#isIdle(streamId)) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
    this.#receiveWindow -= length
    if (this.#receiveWindow < 0) return void this.#fail(ErrorCode.FLOW_CONTROL_ERROR)
    // Bodies are bounded by the windows of their streams, so the connection accepts further data at once.
    if (this.#receiveWindow < CONNECTION_WINDOW / 2) {
      this.#output.send(windowUpdate(0, CONNECTION_WINDOW - this.#receiveWindow))
      this.#receiveWindow = CONNECTION_WINDOW
    }
    this.#dataStream = this.#streamForData(streamId, length)
    this.#dataEndsStream = (flags & Flag.END_STREAM) !== 0
    if (this.#dataEndsStream) this.#resetIds.delete(streamId)
    if (this.#dataStream !== undefined && overhead > 0) this.consumed(this.#dataStream, overhead)
  }

  #streamForData(streamId: number, length: number): ServerStream | undefined {
    const stream = this.#streams.get(streamId)
    if (stream === undefined) {
      if (!this.#resetIds.has(streamId)) this.#streamError(streamId, ErrorCode.STREAM_CLOSED, true)
      return undefined
    }
    if (stream.hasReceivedEnd) {
      this.#streamError(streamId, ErrorCode.STREAM_CLOSED, true)
      return undefined
    }
    stream.receiveWindow -= length
    if (stream.receiveWindow >= 0) return stream
    this.#streamError(streamId, ErrorCode.FLOW_CONTROL_ERROR, false)
    return undefined
  }

  #dataRead(content: Buffer): void {
    const stream = this.#dataStream
    if (stream === undefined || stream.closed) return
    const isHeldApart = content.length * MAX_HELD_RATIO < content.buffer.byteLength
    if (stream.receive(isHeldApart ? Buffer.from(content) : content)) return
    this.#streamError(stream.id, ErrorCode.PROTOCOL_ERROR, this.#dataEndsStream)
  }

  #dataEnded(): void {
    const stream = this.#dataStream
    this.#dataStream = undefined
    if (stream === undefined || !this.#dataEndsStream || stream.closed) return
    if (!stream.receiveEnd()) this.#streamError(stream.id, ErrorCode.PROTOCOL_ERROR, true)
  }

  #headers(streamId: number, flags: number, payload: Buffer): void {
    const isPadded = (flags & Flag.PADDED) !== 0
    const hasPriority = (flags & Flag.PRIORITY) !== 0
    const padding = isPadded ? (payload[0] ?? 0) : 0
    const priorityAt = isPadded ? 1 : 0
    const start = priorityAt + (hasPriority ? 5 : 0)
    if (streamId % 2 === 0) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
    if (start > payload.length) return void this.#fail(ErrorCode.FRAME_SIZE_ERROR)
    if (start + padding > payload.length) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
    const block: HeaderBlock = {
      streamId,
      endsStream: (flags & Flag.END_STREAM) !== 0,
      dependsOnItself: hasPriority && (readUint32(payload, priorityAt) & MAX_WINDOW) === streamId,
      pieces: [payload.subarray(start, payload.length - padding)],
      bytes: payload.length - padding - start,
    }
    if ((flags & Flag.END_HEADERS) !== 0) {
      this.#endBlock(block)
    } else {
      block.pieces[0] = Buffer.from(block.pieces[0]!)
      this.#block = block
    }
  }

  #continuation(streamId: number, flags: number, payload: Buffer): void {
    const block = this.#block!
    if (streamId !== block.streamId) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
    block.pieces.push(Buffer.from(payload))
    block.bytes += payload.length
    if (block.pieces.length > MAX_BLOCK_FRAMES || block.bytes > MAX_BLOCK_BYTES) {
      this.#fail(ErrorCode.ENHANCE_YOUR_CALM)
    } else if ((flags & Flag.END_HEADERS) !== 0) {
      this.#block = undefined
      this.#endBlock(block)
    }
  }

  #endBlock({ streamId, endsStream, dependsOnItself, pieces }: HeaderBlock): void {
    // The block must be decoded even if it is not used, because it changes the table for those that follow.
    const fields = this.#hpack.decode(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
    if (this.#isIdle(streamId)) {
      this.#lastStreamId = streamId
      this.#begin(streamId, fields, endsStream, dependsOnItself)
      return
    }
    const stream = this.#streams.get(streamId)
    if (stream === undefined) {
      if (!this.#resetIds.has(streamId)) this.#fail(ErrorCode.STREAM_CLOSED)
      else if (endsStream) this.#resetIds.delete(streamId)
    } else if (stream.hasReceivedEnd) {
      this.#streamError(streamId, ErrorCode.STREAM_CLOSED, true)
    } else if (!endsStream || dependsOnItself || fields === undefined || !areTrailers(fields) || !stream.receiveEnd()) {
      this.#streamError(streamId, ErrorCode.PROTOCOL_ERROR, endsStream)
    }
  }

  #begin(streamId: number, fields: readonly string[] | undefined, endsStream: boolean, dependsOnItself: boolean): void {
    if (streamId > this.#lastAcceptedId || this.#streams.size >= this.#maxStreams) {
      this.#streamError(streamId, ErrorCode.REFUSED_STREAM, endsStream)
      return
    }
    if (fields === undefined) {
      this.#streamError(streamId, ErrorCode.ENHANCE_YOUR_CALM, endsStream)
      return
    }
    const head = dependsOnItself ? undefined : this.#headOf(fields)
    if (head === undefined || (endsStream && (head.contentLength ?? 0) > 0)) {
      this.#streamError(streamId, ErrorCode.PROTOCOL_ERROR, endsStream)
      return
    }
    const stream = new ServerStream(streamId, this, STREAM_WINDOW, this.#initialSendWindow, head.contentLength)
    this.#streams.set(streamId, stream)
    this.#pings.streamBegan()
    this.#handler.streamBegan(stream, head, !endsStream)
    if (endsStream && !stream.closed) stream.receiveEnd()
  }

  #headOf(fields: readonly string[]): Http2Head | undefined {
    if (this.#lastHead?.rawHeaders === fields) return this.#lastHead
    if (this.#headBefore?.rawHeaders === fields) return this.#headBefore
    const repeated = this.#lastHead && withOtherTimeout(this.#lastHead, fields)
    if (repeated !== undefined) return repeated
    const head = readHttp2Head(fields)
    if (head !== undefined) {
      this.#headBefore = this.#lastHead
      this.#lastHead = head
    }
    return head
  }

  #priority(streamId: number, payload: Buffer): void {
    if (streamId === 0) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
    const dependsOnItself = (readUint32(payload, 0) & MAX_WINDOW) === streamId
    if (payload.length === 5 && !dependsOnItself) return
    const code = payload.length === 5 ? ErrorCode.PROTOCOL_ERROR : ErrorCode.FRAME_SIZE_ERROR
    // A stream that has not begun cannot be reset.
    if (this.#isIdle(streamId)) this.#fail(code)
    else this.#streamError(streamId, code, true)
  }

  #rstStream(streamId: number, length: number): void {
    if (length !== 4) return void this.#fail(ErrorCode.FRAME_SIZE_ERROR)
    if (streamId === 0 || this.#isIdle(streamId)) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
    this.#resetIds.delete(streamId)
    const stream = this.#streams.get(streamId)
    if (stream === undefined) return
    stream.abort()
    this.#countReset()
  }

  #settings(streamId: number, flags: number, payload: Buffer): void {
    if (streamId !== 0) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
    const isAck = (flags & Flag.ACK) !== 0
    if (isAck ? payload.length !== 0 : payload.length % 6 !== 0) return void this.#fail(ErrorCode.FRAME_SIZE_ERROR)
    this.#hasSettings = true
    if (isAck) return
    let window = this.#initialSendWindow
    for (let at = 0; at < payload.length; at += 6) {
      const setting = (payload[at]! << 8) | payload[at + 1]!
      const value = readUint32(payload, at + 2)
      if (setting === Setting.ENABLE_PUSH && value > 1) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
      if (setting === Setting.MAX_FRAME_SIZE && (value < MAX_FRAME_BYTES || value > 0xffffff)) {
        return void this.#fail(ErrorCode.PROTOCOL_ERROR)
      }
      if (setting === Setting.INITIAL_WINDOW_SIZE) {
        if (value > MAX_WINDOW) return void this.#fail(ErrorCode.FLOW_CONTROL_ERROR)
        window = value
      }
      if (setting === Setting.HEADER_TABLE_SIZE) this.#setTableSize(value)
    }
    this.#output.send(settingsAck)
    this.#setInitialWindow(window)
  }

  #setTableSize(bytes: number): void {
    if (bytes < this.#sendTableBytes) this.#confirmsTableSize = true
    this.#sendTableBytes = bytes
  }

  /** Returns the beginning of the next header block, which confirms a smaller table (RFC 7541, section 4.2). */
  #tableSizeUpdate(): string {
    if (!this.#confirmsTableSize) return ''
    this.#confirmsTableSize = false
    return NO_TABLE
  }

  #setInitialWindow(bytes: number): void {
    const more = bytes - this.#initialSendWindow
    if (more === 0) return
    this.#initialSendWindow = bytes
    for (const stream of this.#streams.values()) {
      stream.sendWindow += more
      if (stream.sendWindow > MAX_WINDOW) return void this.#fail(ErrorCode.FLOW_CONTROL_ERROR)
    }
    if (more > 0) this.#sendBlocked()
  }

  #ping(streamId: number, flags: number, payload: Buffer): void {
    if (streamId !== 0) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
    if (payload.length !== PING_BYTES) return void this.#fail(ErrorCode.FRAME_SIZE_ERROR)
    if ((flags & Flag.ACK) !== 0) return
    this.#output.send(pingAck(payload.toString('latin1')))
    if (this.#pings.isExceededAt(this.monotonicMs(), this.#streams.size > 0)) {
      this.#fail(ErrorCode.ENHANCE_YOUR_CALM, 'too_many_pings')
    }
  }

  #windowUpdate(streamId: number, payload: Buffer): void {
    if (payload.length !== 4) return void this.#fail(ErrorCode.FRAME_SIZE_ERROR)
    if (this.#isIdle(streamId) && streamId !== 0) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
    const more = readUint32(payload, 0) & MAX_WINDOW
    if (streamId === 0) {
      const wasOpen = this.#sendWindow > 0
      this.#sendWindow += more
      if (more === 0) this.#fail(ErrorCode.PROTOCOL_ERROR)
      else if (this.#sendWindow > MAX_WINDOW) this.#fail(ErrorCode.FLOW_CONTROL_ERROR)
      // While the window of the connection is open, streams wait only for their own windows.
      else if (!wasOpen) this.#sendBlocked()
      return
    }
    const stream = this.#streams.get(streamId)
    if (stream === undefined) return
    stream.sendWindow += more
    if (more === 0) this.#streamError(streamId, ErrorCode.PROTOCOL_ERROR, stream.hasReceivedEnd)
    else if (stream.sendWindow > MAX_WINDOW)
      this.#streamError(streamId, ErrorCode.FLOW_CONTROL_ERROR, stream.hasReceivedEnd)
    else if (this.#blocked.has(stream)) this.sendBody(stream)
  }

  #isIdle(streamId: number): boolean {
    return streamId > this.#lastStreamId || streamId % 2 === 0
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

  #unblock(stream: ServerStream): void {
    if (!this.#blocked.delete(stream)) return
    this.#unsent.release(stream.heldBytes)
    stream.heldBytes = 0
  }

  #sendBlocked(): void {
    for (const stream of this.#blocked) {
      if (this.#sendWindow <= 0) return
      this.sendBody(stream)
    }
  }

  /** Ends a stream because of a fault of the client, or refuses it. `isOver`: the client sends nothing more on it. */
  #streamError(streamId: number, code: number, isOver: boolean): void {
    this.#sendReset(streamId, code, isOver)
    this.#streams.get(streamId)?.abort()
    this.#countReset()
  }

  #sendReset(streamId: number, code: number, isOver: boolean): void {
    this.#output.send(rstStream(streamId, code))
    if (isOver) return
    this.#resetIds.add(streamId)
    if (this.#resetIds.size > MAX_REMEMBERED_RESETS) {
      for (const oldest of this.#resetIds) {
        this.#resetIds.delete(oldest)
        break
      }
    }
  }

  #countReset(): void {
    if (this.#resets.isExceededAt(this.monotonicMs())) this.#fail(ErrorCode.ENHANCE_YOUR_CALM)
  }

  /** Ends the connection because of a fault of the client. */
  #fail(code: number, debugData = ''): void {
    if (this.#isEnded) return
    this.#output.send(goawayFrame(Math.min(this.#lastStreamId, this.#lastAcceptedId), code, debugData))
    this.#end()
  }

  #end(): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#output.flush()
    this.#socket.destroySoon()
    this.#onGone()
  }

  #sendData(streamId: number, bytes: Uint8Array, endsStream: boolean): void {
    this.#output.send(frameHead(bytes.length, FrameType.DATA, endsStream ? Flag.END_STREAM : 0, streamId))
    this.#output.sendBytes(bytes)
  }
}
