import type { Socket } from 'node:net'
import type { Clock } from '@penstock/runtime'
import { AnswerWriter } from './answer-writer.ts'
import { CONNECTION_WINDOW, DataReceiver, STREAM_WINDOW } from './data-receiver.ts'
import { type FrameHead, FrameReader } from './frame-reader.ts'
import { FrameWriter, type UnsentHold } from './frame-writer.ts'
import {
  ErrorCode,
  Flag,
  FrameType,
  goawayFrame,
  INITIAL_WINDOW,
  MAX_WINDOW,
  PING_BYTES,
  pingAck,
  readUint32,
  rstStream,
  Setting,
  settingsAck,
  settingsFrame,
  windowUpdate,
} from './frames.ts'
import { type HeaderBlock, HeaderBlocks } from './header-blocks.ts'
import { HpackDecoder, HpackError } from './hpack/hpack-decoder.ts'
import { SessionLimits } from './limits/session-limits.ts'
import type { UnsentBudget } from './limits/unsent-budget.ts'
import { areTrailers, type Http2Head, RequestHeads } from './request-head.ts'
import { ResetStreams } from './reset-streams.ts'
import { ServerStream, type StreamOutput } from './server-stream.ts'
import { readSettings } from './settings-values.ts'

/** Begins the streams of a session. Its methods must not throw. */
export interface StreamHandler {
  /** @param hasBody whether the request has not ended with its head */
  streamBegan(stream: ServerStream, head: Http2Head, hasBody: boolean): void
  streamEnded(): void
  /** An error of the gateway's own code, which ends the connection. */
  failed(error: unknown): void
}

interface SessionSettings {
  readonly maxStreams: number
  readonly clock: Pick<Clock, 'nowMs' | 'monotonicMs'>
  /** Shared by all sessions of a listener. */
  readonly unsent: UnsentBudget
}

/** The parts of a socket that a session uses. */
export type SessionSocket = Pick<Socket, 'destroyed' | 'destroySoon' | 'on' | 'once' | 'writableEnded' | 'write'>

const HPACK_TABLE_BYTES = 4_096
const MAX_HEADER_LIST_BYTES = 64 * 1024
const MAX_HEADER_FIELDS = 128
/**
 * The server's side of one HTTP/2 connection, read directly from its socket. It serves requests; it neither pushes nor
 * accepts priorities. A fault of the client ends the stream or the connection as RFC 9113 demands.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9113.html
 * @see docs/contributing/decisions/0021-http2-without-node.md
 */
export class ServerSession implements StreamOutput {
  readonly monotonicMs: () => number
  readonly #socket: SessionSocket
  readonly #reader = new FrameReader({
    headRead: (head) => this.#headRead(head),
    frameRead: (head, payload) => this.#frameRead(head, payload),
    dataBegan: (head, overhead) => this.#dataBegan(head, overhead),
    dataRead: (content) => this.#data.read(content),
    dataEnded: () => this.#data.ended(),
    failed: (code) => this.#fail(code),
  })
  readonly #output: FrameWriter
  readonly answers: AnswerWriter
  readonly #handler: StreamHandler
  readonly #maxStreams: number
  readonly #hpack = new HpackDecoder({
    tableBytes: HPACK_TABLE_BYTES,
    maxListBytes: MAX_HEADER_LIST_BYTES,
    maxFields: MAX_HEADER_FIELDS,
  })
  readonly #streams = new Map<number, ServerStream>()
  readonly #resets = new ResetStreams()
  readonly #data = new DataReceiver({
    streams: this.#streams,
    resets: this.#resets,
    grantWindow: (streamId, bytes) => this.#output.send(windowUpdate(streamId, bytes)),
    streamError: (streamId, code, isOver) => this.#streamError(streamId, code, isOver),
    failed: (code) => this.#fail(code),
  })
  readonly #limits = new SessionLimits()
  readonly #blocks = new HeaderBlocks()
  readonly #heads = new RequestHeads()
  /** The highest id of a stream that the client has begun. */
  #lastStreamId = 0
  /** Streams with a higher id are refused, after GOAWAY. */
  #lastAcceptedId = MAX_WINDOW
  #hasSettings = false
  #initialSendWindow = INITIAL_WINDOW
  #isEnded = false

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
    this.answers = new AnswerWriter(
      this.#output,
      unsent,
      () => clock.nowMs(),
      () => this.#limits.answered(),
    )
    socket.on('data', this.#onData)
    socket.on('end', this.#onGone)
    socket.on('close', this.#onGone)
    this.#output.send(
      settingsFrame([
        [Setting.MAX_CONCURRENT_STREAMS, maxStreams],
        [Setting.MAX_HEADER_LIST_SIZE, MAX_HEADER_LIST_BYTES],
      ]) + windowUpdate(0, CONNECTION_WINDOW - INITIAL_WINDOW),
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

  sendReset(stream: ServerStream, code: number): void {
    this.#sendReset(stream.id, code, stream.hasReceivedEnd)
  }

  consumed(stream: ServerStream, bytes: number): void {
    this.#data.consumed(stream, bytes)
  }

  forget(stream: ServerStream): void {
    this.#streams.delete(stream.id)
    this.answers.unblock(stream)
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
    if (!lacksSettings && this.#blocks.isIncomplete === (type === FrameType.CONTINUATION)) return true
    this.#fail(ErrorCode.PROTOCOL_ERROR)
    return false
  }

  #frameRead({ type, flags, streamId, length }: FrameHead, payload: Buffer): void {
    if (type !== FrameType.HEADERS && type !== FrameType.CONTINUATION && this.#isCalmNeeded()) return
    switch (type) {
      case FrameType.HEADERS:
        this.#readBlock(this.#blocks.begin(streamId, flags, payload))
        break
      case FrameType.CONTINUATION:
        this.#readBlock(this.#blocks.continue(streamId, flags, payload))
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

  #dataBegan(head: FrameHead, overhead: number): void {
    const { streamId, flags, length } = head
    if (streamId === 0 || this.#isIdle(streamId)) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
    if (length === overhead && (flags & Flag.END_STREAM) === 0 && this.#isCalmNeeded()) return
    this.#data.began(head, overhead)
  }

  #readBlock(block: HeaderBlock | number | undefined): void {
    if (typeof block === 'number') this.#fail(block)
    else if (block !== undefined) this.#endBlock(block)
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
      if (!this.#resets.has(streamId)) this.#fail(ErrorCode.STREAM_CLOSED)
      else if (endsStream) this.#resets.delete(streamId)
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
    const head = dependsOnItself ? undefined : this.#heads.read(fields)
    if (head === undefined || (endsStream && (head.contentLength ?? 0) > 0)) {
      this.#streamError(streamId, ErrorCode.PROTOCOL_ERROR, endsStream)
      return
    }
    const stream = new ServerStream(streamId, this, STREAM_WINDOW, this.#initialSendWindow, head.contentLength)
    this.#streams.set(streamId, stream)
    this.#limits.streamBegan()
    this.#handler.streamBegan(stream, head, !endsStream)
    if (endsStream && !stream.closed) stream.receiveEnd()
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
    this.#resets.delete(streamId)
    const stream = this.#streams.get(streamId)
    if (stream === undefined) return
    stream.abort()
    this.#countReset()
  }

  #settings(streamId: number, flags: number, payload: Buffer): void {
    if (streamId !== 0) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
    const isAck = (flags & Flag.ACK) !== 0
    if (isAck && payload.length !== 0) return void this.#fail(ErrorCode.FRAME_SIZE_ERROR)
    const values = isAck ? undefined : readSettings(payload)
    if (typeof values === 'number') return void this.#fail(values)
    this.#hasSettings = true
    if (values === undefined) return
    for (const bytes of values.tableSizes) this.answers.setTableSize(bytes)
    this.#output.send(settingsAck)
    if (values.initialWindow !== undefined) this.#setInitialWindow(values.initialWindow)
  }

  #setInitialWindow(bytes: number): void {
    const more = bytes - this.#initialSendWindow
    if (more === 0) return
    this.#initialSendWindow = bytes
    for (const stream of this.#streams.values()) {
      stream.sendWindow += more
      if (stream.sendWindow > MAX_WINDOW) return void this.#fail(ErrorCode.FLOW_CONTROL_ERROR)
    }
    if (more > 0) this.answers.sendBlocked()
  }

  #ping(streamId: number, flags: number, payload: Buffer): void {
    if (streamId !== 0) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
    if (payload.length !== PING_BYTES) return void this.#fail(ErrorCode.FRAME_SIZE_ERROR)
    if ((flags & Flag.ACK) !== 0) return
    this.#output.send(pingAck(payload.toString('latin1')))
    if (this.#limits.isPingExceeded(this.monotonicMs(), this.#streams.size > 0)) {
      this.#fail(ErrorCode.ENHANCE_YOUR_CALM, 'too_many_pings')
    }
  }

  #windowUpdate(streamId: number, payload: Buffer): void {
    if (payload.length !== 4) return void this.#fail(ErrorCode.FRAME_SIZE_ERROR)
    if (this.#isIdle(streamId) && streamId !== 0) return void this.#fail(ErrorCode.PROTOCOL_ERROR)
    const more = readUint32(payload, 0) & MAX_WINDOW
    if (streamId === 0) {
      const code = this.answers.growWindow(more)
      if (code !== undefined) this.#fail(code)
      return
    }
    const stream = this.#streams.get(streamId)
    if (stream === undefined) return
    stream.sendWindow += more
    if (more === 0) this.#streamError(streamId, ErrorCode.PROTOCOL_ERROR, stream.hasReceivedEnd)
    else if (stream.sendWindow > MAX_WINDOW)
      this.#streamError(streamId, ErrorCode.FLOW_CONTROL_ERROR, stream.hasReceivedEnd)
    else if (this.answers.isBlocked(stream)) this.answers.sendBody(stream)
  }

  #isIdle(streamId: number): boolean {
    return streamId > this.#lastStreamId || streamId % 2 === 0
  }

  /** Ends a stream because of a fault of the client, or refuses it. `isOver`: the client sends nothing more on it. */
  #streamError(streamId: number, code: number, isOver: boolean): void {
    this.#sendReset(streamId, code, isOver)
    this.#streams.get(streamId)?.abort()
    this.#countReset()
  }

  #sendReset(streamId: number, code: number, isOver: boolean): void {
    this.#output.send(rstStream(streamId, code))
    if (!isOver) this.#resets.add(streamId)
  }

  /** Counts a frame that transfers nothing of a request. Returns true if there were too many, which ends the connection. */
  #isCalmNeeded(): boolean {
    if (!this.#limits.isFrameExceeded(this.monotonicMs())) return false
    this.#fail(ErrorCode.ENHANCE_YOUR_CALM)
    return true
  }

  #countReset(): void {
    if (this.#limits.isResetExceeded(this.monotonicMs())) this.#fail(ErrorCode.ENHANCE_YOUR_CALM)
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
}
