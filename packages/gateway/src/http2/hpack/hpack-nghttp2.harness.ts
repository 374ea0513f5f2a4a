import { once } from 'node:events'
import { type ClientHttp2Session, type ClientSessionOptions, connect, type OutgoingHttpHeaders } from 'node:http2'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'

const PREFACE_BYTES = 24
const FRAME_HEAD_BYTES = 9
const MAX_FRAME_BYTES = 16_384
const HEADERS = 1
const SETTINGS = 4
const CONTINUATION = 9
const ACK = 1
const END_STREAM = 1
const END_HEADERS = 4

/** Returns a frame (RFC 9113, section 4.1). */
function frameOf(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** Returns the frames of a header block that ends a stream. */
function headersFramesOf(stream: number, block: Uint8Array): Buffer {
  const frames: Buffer[] = []
  for (let at = 0; at === 0 || at < block.length; at += MAX_FRAME_BYTES) {
    const isLast = at + MAX_FRAME_BYTES >= block.length
    const flags = (at === 0 ? END_STREAM : 0) | (isLast ? END_HEADERS : 0)
    const fragment = block.subarray(at, at + MAX_FRAME_BYTES)
    frames.push(frameOf(at === 0 ? HEADERS : CONTINUATION, flags, stream, fragment))
  }
  return Buffer.concat(frames)
}

/** Returns the payload of a SETTINGS frame with one parameter. */
function settingOf(id: number, value: number): Buffer {
  const payload = Buffer.alloc(6)
  payload.writeUInt16BE(id, 0)
  payload.writeUInt32BE(value, 2)
  return payload
}

const SETTINGS_HEADER_TABLE_SIZE = 1

/** Calls `onBlock` with each complete header block of a client, which must not send padding or priorities. */
class BlockReader {
  #bytes = Buffer.alloc(0)
  #hasPreface = false
  #fragments: Buffer[] = []
  readonly #onBlock: (block: Buffer, stream: number) => void
  readonly #onSettings: () => void

  constructor(onBlock: (block: Buffer, stream: number) => void, onSettings: () => void) {
    this.#onBlock = onBlock
    this.#onSettings = onSettings
  }

  push(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk])
    if (!this.#hasPreface) {
      if (this.#bytes.length < PREFACE_BYTES) return
      this.#hasPreface = true
      this.#bytes = this.#bytes.subarray(PREFACE_BYTES)
    }
    while (this.#bytes.length >= FRAME_HEAD_BYTES) {
      const end = FRAME_HEAD_BYTES + this.#bytes.readUIntBE(0, 3)
      if (this.#bytes.length < end) return
      const frame = this.#bytes.subarray(0, end)
      this.#bytes = this.#bytes.subarray(end)
      this.#read(frame)
    }
  }

  #read(frame: Buffer): void {
    const type = frame[3]
    const flags = frame[4]!
    if (type === SETTINGS && (flags & ACK) === 0) this.#onSettings()
    if (type !== HEADERS && type !== CONTINUATION) return
    const extra = type === HEADERS ? flags & ~(END_STREAM | END_HEADERS) : 0
    if (extra !== 0) throw new Error(`HEADERS with the flags ${flags}`)
    this.#fragments.push(frame.subarray(FRAME_HEAD_BYTES))
    if ((flags & END_HEADERS) === 0) return
    const block = Buffer.concat(this.#fragments)
    this.#fragments = []
    this.#onBlock(block, frame.readUInt32BE(5))
  }
}

/**
 * A node:http2 client, which encodes and decodes with nghttp2, and a server that reads its frames without interpreting the header
 * blocks, and answers each request with the block that `answer` returns.
 */
export class Nghttp2Peer {
  readonly #server: Server
  readonly #client: ClientHttp2Session
  readonly #sockets: readonly Socket[]
  readonly #blocks: Buffer[]

  private constructor(server: Server, client: ClientHttp2Session, sockets: readonly Socket[], blocks: Buffer[]) {
    this.#server = server
    this.#client = client
    this.#sockets = sockets
    this.#blocks = blocks
  }

  static async open(
    answer: () => Uint8Array,
    options: ClientSessionOptions = {},
    tableBytes?: number,
  ): Promise<Nghttp2Peer> {
    const blocks: Buffer[] = []
    const sockets: Socket[] = []
    const server = createServer((socket) => {
      sockets.push(socket)
      const settings = tableBytes === undefined ? Buffer.alloc(0) : settingOf(SETTINGS_HEADER_TABLE_SIZE, tableBytes)
      socket.write(frameOf(SETTINGS, 0, 0, settings))
      const reader = new BlockReader(
        (block, stream) => {
          blocks.push(block)
          socket.write(headersFramesOf(stream, answer()))
        },
        () => socket.write(frameOf(SETTINGS, ACK, 0, Buffer.alloc(0))),
      )
      socket.on('data', (chunk: Buffer) => reader.push(chunk))
      socket.on('error', () => socket.destroy())
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const client = connect(`http://127.0.0.1:${port}`, options)
    await once(client, 'remoteSettings')
    return new Nghttp2Peer(server, client, sockets, blocks)
  }

  /** Sends a request. Resolves with the header block that the client sent, and with the headers of the answer that it decoded. */
  async request(headers: OutgoingHttpHeaders): Promise<{ block: Buffer; rawHeaders: readonly string[] }> {
    const stream = this.#client.request(headers, { endStream: true })
    const [, , rawHeaders] = (await once(stream, 'response')) as [unknown, unknown, readonly string[]]
    stream.resume()
    await once(stream, 'close')
    return { block: this.#blocks.pop()!, rawHeaders }
  }

  async close(): Promise<void> {
    this.#client.destroy()
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }
}
