import { connect, type Socket } from 'node:net'

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

export const FrameType = {
  DATA: 0,
  HEADERS: 1,
  RST_STREAM: 3,
  SETTINGS: 4,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
} as const
export const END_STREAM = 1
const END_HEADERS = 4
const ACK = 1

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** An HTTP/2 client that gives tests access to every frame. */
export class RawClient {
  readonly frames: Frame[] = []
  isEnded = false
  readonly #socket: Socket
  readonly #watchers: (() => void)[] = []
  #rest = Buffer.alloc(0)

  static async connect(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1')
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
    return new RawClient(socket)
  }

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', (part) => this.#read(part))
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isEnded = true
      this.#notify()
    })
    socket.write(preface)
    this.send(FrameType.SETTINGS, 0, 0, Buffer.alloc(0))
  }

  send(type: number, flags: number, stream: number, payload: Uint8Array): void {
    const head = Buffer.alloc(9)
    head.writeUIntBE(payload.length, 0, 3)
    head[3] = type
    head[4] = flags
    head.writeUInt32BE(stream, 5)
    this.#socket.write(Buffer.concat([head, payload]))
  }

  /** Sends literal header fields, neither indexed nor Huffman-coded (RFC 7541, section 6.2.2). */
  headers(
    stream: number,
    fields: Readonly<Record<string, string>> | readonly (readonly [string, string])[],
    isLast = false,
  ): void {
    const pairs = Array.isArray(fields) ? fields : Object.entries(fields)
    const parts = pairs.flatMap(([name, value]) => [Uint8Array.of(0), literal(name), literal(value)])
    this.send(FrameType.HEADERS, END_HEADERS | (isLast ? END_STREAM : 0), stream, Buffer.concat(parts))
  }

  data(stream: number, payload: Uint8Array, isLast = false): void {
    this.send(FrameType.DATA, isLast ? END_STREAM : 0, stream, payload)
  }

  of(stream: number): Frame[] {
    return this.frames.filter((frame) => frame.stream === stream)
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#watchers.push(resolve))
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(part: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, part])
    while (this.#rest.length >= 9) {
      const length = this.#rest.readUIntBE(0, 3)
      if (this.#rest.length < 9 + length) return
      const [type, flags] = [this.#rest[3]!, this.#rest[4]!]
      const payload = this.#rest.subarray(9, 9 + length)
      this.frames.push({ type, flags, stream: this.#rest.readUInt32BE(5), payload })
      this.#rest = this.#rest.subarray(9 + length)
      if (type === FrameType.SETTINGS && (flags & ACK) === 0) this.send(FrameType.SETTINGS, ACK, 0, Buffer.alloc(0))
      this.#notify()
    }
  }

  #notify(): void {
    for (const resolve of this.#watchers.splice(0)) resolve()
  }
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text)
  const length = bytes.length < 127 ? Uint8Array.of(bytes.length) : Uint8Array.of(127, bytes.length - 127)
  return Buffer.concat([length, bytes])
}

export const exportHeaders = {
  ':method': 'POST',
  ':scheme': 'http',
  ':authority': 'localhost',
  ':path': '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  'content-type': 'application/grpc',
  te: 'trailers',
}
