import { EventEmitter } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ErrorCode, FrameType, frameHead, PREFACE, settingsFrame, uint32 } from './frames.ts'
import { UnsentBudget } from './limits/unsent-budget.ts'
import type { Http2Head } from './request-head.ts'
import { ServerSession, type SessionSocket, type StreamHandler } from './server-session.ts'
import type { ServerStream } from './server-stream.ts'

export type Field = readonly [name: string, value: string]

export const END_STREAM = 1
export const END_HEADERS = 4
export const PADDED = 8
export const PRIORITY = 32
export const COMPLETE: number = END_STREAM | END_HEADERS

/** The first bytes of a client: the preface and empty SETTINGS. */
export const greeting: Buffer = Buffer.concat([PREFACE, Buffer.from(settingsFrame([]), 'latin1')])

export const get: readonly Field[] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':authority', 'gateway'],
  [':path', '/'],
]
export const post: readonly Field[] = [[':method', 'POST'], ...get.slice(1)]

/** Returns a frame; a payload in text is latin1. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array | string = ''): Buffer {
  const bytes = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload
  return Buffer.concat([Buffer.from(frameHead(bytes.length, type, flags, stream), 'latin1'), bytes])
}

/** Returns a header block of literals that are neither indexed nor Huffman-coded. */
export function block(fields: readonly Field[]): Buffer {
  const text = (value: string) => {
    const bytes = Buffer.from(value, 'latin1')
    const length: number[] = [Math.min(bytes.length, 127)]
    for (let rest = bytes.length - 127; rest >= 0; rest = rest < 128 ? -1 : rest >>> 7) {
      length.push(rest < 128 ? rest : (rest & 127) | 128)
    }
    return Buffer.concat([Uint8Array.from(length), bytes])
  }
  return Buffer.concat(fields.flatMap(([name, value]) => [Uint8Array.of(0), text(name), text(value)]))
}

export const headers = (stream: number, fields: readonly Field[], flags: number = COMPLETE): Buffer =>
  frame(FrameType.HEADERS, flags, stream, block(fields))

export const data = (stream: number, content: Uint8Array | string, flags = 0): Buffer =>
  frame(FrameType.DATA, flags, stream, content)

export const rst = (stream: number, code = ErrorCode.CANCEL): Buffer =>
  frame(FrameType.RST_STREAM, 0, stream, uint32(code))

export const update = (stream: number, bytes: number): Buffer =>
  frame(FrameType.WINDOW_UPDATE, 0, stream, uint32(bytes))

export const settings = (...values: readonly (readonly [setting: number, value: number])[]): Buffer =>
  Buffer.from(settingsFrame(values), 'latin1')

export interface ReceivedFrame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** Returns the complete frames in these bytes. */
export function framesIn(bytes: Buffer): ReceivedFrame[] {
  const frames: ReceivedFrame[] = []
  for (let at = 0; at + 9 <= bytes.length; ) {
    const end = at + 9 + bytes.readUIntBE(at, 3)
    if (end > bytes.length) break
    const payload = bytes.subarray(at + 9, end)
    frames.push({ type: bytes[at + 3]!, flags: bytes[at + 4]!, stream: bytes.readUInt32BE(at + 5), payload })
    at = end
  }
  return frames
}

const nameOf = (table: Readonly<Record<string, number>>, value: number): string =>
  Object.keys(table).find((name) => table[name] === value) ?? String(value)

/** Returns a frame as text, for example `RST_STREAM 1 PROTOCOL_ERROR`. */
export function textOf({ type, flags, stream, payload }: ReceivedFrame): string {
  const end = (flags & END_STREAM) !== 0 ? ' end' : ''
  switch (type) {
    case FrameType.DATA:
      return `DATA ${stream} ${payload.length}${end}`
    case FrameType.HEADERS:
      return `HEADERS ${stream}${end}`
    case FrameType.RST_STREAM:
      return `RST_STREAM ${stream} ${nameOf(ErrorCode, payload.readUInt32BE())}`
    case FrameType.GOAWAY:
      return `GOAWAY ${payload.readUInt32BE()} ${nameOf(ErrorCode, payload.readUInt32BE(4))}`
    case FrameType.WINDOW_UPDATE:
      return `WINDOW_UPDATE ${stream} ${payload.readUInt32BE()}`
    case FrameType.SETTINGS:
    case FrameType.PING:
      return `${nameOf(FrameType, type)}${(flags & 1) !== 0 ? ' ack' : ''}`
    default:
      return `${nameOf(FrameType, type)} ${stream}`
  }
}

/** A socket that keeps what is written to it. */
export class FakeSocket extends EventEmitter {
  destroyed = false
  writableEnded = false
  /** Whether `write` asks the writer to wait. */
  isFull = false
  readonly #written: Buffer[] = []

  get written(): Buffer {
    return Buffer.concat(this.#written)
  }

  write(part: string | Uint8Array): boolean {
    this.#written.push(typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))
    return !this.isFull
  }

  destroySoon(): void {
    this.writableEnded = true
    process.nextTick(() => {
      this.destroyed = true
      this.emit('close')
    })
  }
}

/** A request as its handler saw it. */
export interface SeenRequest {
  readonly id: number
  readonly head: Http2Head
  readonly stream: ServerStream
  readonly hasBody: boolean
  readonly pieces: Buffer[]
  ending: '' | 'end' | 'close' | 'end, close'
}

export interface TestSessionOptions {
  readonly unsent?: UnsentBudget
  readonly maxStreams?: number
  /** Called for each request, before its body. By default, a request is answered when it has ended. */
  readonly onStream?: (stream: ServerStream, seen: SeenRequest) => void
  /** Whether the client has sent its preface and SETTINGS. */
  readonly isGreeted?: boolean
}

/** Answers 200 with a short body when the request has ended. */
export function answerAtEnd(stream: ServerStream): void {
  stream.on('end', () => {
    stream.respond({ ':status': 200 }, { sendDate: false })
    stream.end(Buffer.from('ok'))
  })
}

/** A session on a fake socket. */
export class TestSession implements StreamHandler {
  readonly socket: FakeSocket = new FakeSocket()
  readonly session: ServerSession
  readonly seen: SeenRequest[] = []
  readonly failures: unknown[] = []
  readonly holds: string[] = []
  ended = 0
  nowMs = 1_000_000
  readonly #onStream: (stream: ServerStream, seen: SeenRequest) => void
  #read = 0

  constructor({
    maxStreams = 100,
    onStream = answerAtEnd,
    isGreeted = true,
    unsent = new UnsentBudget(),
  }: TestSessionOptions = {}) {
    this.#onStream = onStream
    const hold = {
      holdReading: (reason: string) => void this.holds.push(`hold ${reason}`),
      releaseReading: (reason: string) => void this.holds.push(`release ${reason}`),
    }
    const socket = this.socket as unknown as SessionSocket
    this.session = new ServerSession(socket, hold, this, {
      maxStreams,
      clock: { nowMs: () => this.nowMs, monotonicMs: () => this.nowMs },
      unsent,
    })
    if (isGreeted) this.socket.emit('data', greeting)
  }

  streamBegan(stream: ServerStream, head: Http2Head, hasBody: boolean): void {
    const seen: SeenRequest = { id: stream.id, head, stream, hasBody, pieces: [], ending: '' }
    this.seen.push(seen)
    stream.on('data', (piece: Buffer) => void seen.pieces.push(piece))
    stream.on('end', () => {
      seen.ending = 'end'
    })
    stream.on('close', () => {
      seen.ending = seen.ending === 'end' ? 'end, close' : 'close'
    })
    this.#onStream(stream, seen)
  }

  streamEnded(): void {
    this.ended += 1
  }

  failed(error: unknown): void {
    this.failures.push(error)
  }

  /** Lets the session read these pieces, and returns the frames that it has sent since the last call, as text. */
  async feed(...pieces: readonly Buffer[]): Promise<string[]> {
    return (await this.framesAfter(...pieces)).map(textOf)
  }

  async framesAfter(...pieces: readonly Buffer[]): Promise<ReceivedFrame[]> {
    for (const piece of pieces) this.socket.emit('data', piece)
    await nextTurn()
    await nextTurn()
    const frames = framesIn(this.socket.written)
    const from = this.#read
    this.#read = frames.length
    return frames.slice(from)
  }

  /** Ends the greeting of both sides. */
  async ready(): Promise<this> {
    await this.feed()
    return this
  }

  request(id: number): SeenRequest {
    return this.seen.find((seen) => seen.id === id)!
  }

  bodyOf(id: number): string {
    return Buffer.concat(this.request(id).pieces).toString('latin1')
  }
}

export const unanswered = (): void => {}
export const open = (options?: TestSessionOptions): Promise<TestSession> => new TestSession(options).ready()
/** Returns the frames without those that return windows. */
export const withoutUpdates = (frames: readonly string[]): string[] =>
  frames.filter((text) => !text.startsWith('WINDOW'))

/** Opens a session in which stream 1 has no end yet, 3 waits for its answer, 5 was answered, and 7 was reset by its client. */
export async function openWithStreams(): Promise<TestSession> {
  const session = await open({ onStream: (stream) => stream.id !== 3 && answerAtEnd(stream) })
  await session.feed(
    headers(1, post, END_HEADERS),
    headers(3, get),
    headers(5, get),
    headers(7, post, END_HEADERS),
    rst(7),
  )
  return session
}
