import { ErrorCode, FRAME_HEAD_BYTES, FrameType, PREFACE, Setting, uint32 } from './frames.ts'
import {
  block,
  END_HEADERS,
  END_STREAM,
  type Field,
  frame,
  PADDED,
  PRIORITY,
  settings,
  update,
} from './server-session.harness.ts'

/** A session as its client sends it: the preface, and then a frame in each piece. */
export interface MutatedSession {
  readonly pieces: readonly Buffer[]
  readonly streams: number
  readonly isMutated: boolean
}

const methods = ['POST', 'GET', 'PUT', 'OPTIONS', 'HEAD', 'CONNECT']
const paths = ['/', '/v1/traces', '/a?b=c', '/%00']
const fields: readonly Field[] = [
  ['content-type', 'application/grpc'],
  ['content-type', 'application/x-protobuf'],
  ['grpc-timeout', '1S'],
  ['grpc-timeout', '200m'],
  ['grpc-encoding', 'gzip'],
  ['te', 'trailers'],
  ['user-agent', 'otel'],
  ['authorization', 'Bearer t'],
  ['x-empty', ''],
  ['x-bytes', 'a\tb \xe9'],
  ['cookie', 'a=b'],
  ['cookie', 'c=d'],
]
const odd: readonly Field[] = [
  ['X-Upper', 'a'],
  ['x-nul', 'a\0b'],
  ['x-lf', 'a\nb: c'],
  ['x-cr', 'a\rb'],
  ['x-blank', ' a'],
  ['x-blank', 'a '],
  ['x blank', 'a'],
  ['', 'a'],
  ['connection', 'close'],
  ['transfer-encoding', 'chunked'],
  ['upgrade', 'h2c'],
  ['keep-alive', '1'],
  ['te', 'gzip'],
  ['host', 'other'],
  ['content-length', '0'],
  ['content-length', '3'],
  ['content-length', '+3'],
  ['content-length', ''],
  [':path', '/other'],
  [':method', 'PUT'],
  [':status', '200'],
  [':authority', ''],
  [':unknown', 'a'],
  ['x-long', 'a'.repeat(300)],
]

/** The encoder of a client, which uses the static and the dynamic table. */
class Encoder {
  readonly #table: Field[] = []
  readonly #below: (bound: number) => number

  constructor(below: (bound: number) => number) {
    this.#below = below
  }

  encode(list: readonly Field[]): Buffer {
    return Buffer.concat(list.map((field) => this.#encodeField(field)))
  }

  #encodeField(field: Field): Buffer {
    const at = this.#table.findIndex(([name, value]) => name === field[0] && value === field[1])
    if (at !== -1 && at < 60 && this.#below(4) > 0) return Buffer.of(0x80 | (62 + at))
    const literal = block([field])
    // A table of at most 60 short entries never has to drop one.
    if (this.#table.length < 30 && field[1].length < 60 && this.#below(2) === 0) {
      this.#table.unshift(field)
      literal[0] = 0x40
    } else if (this.#below(4) === 0) {
      literal[0] = 0x10
    }
    return literal
  }
}

/** Makes valid sessions of one to six requests, and edits the frames of most of them. The same numbers make the same sessions. */
export class MutatedSessions {
  readonly #random: () => number
  #repeated: readonly Field[] | undefined

  constructor(random: () => number) {
    this.#random = random
  }

  /** Returns an integer from 0 to `bound` - 1. */
  below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }

  next(): MutatedSession {
    const streams = 1 + this.below(6)
    // Most clients repeat their head, and clients of gRPC change its timeout.
    this.#repeated = this.below(2) === 0 ? this.#fields() : undefined
    const encoder = new Encoder((bound) => this.below(bound))
    const queues: Buffer[][] = []
    // Requests begin in the order of their ids, and their other frames are mixed.
    const frames = [this.#settings()]
    for (let index = 0; index < streams; index += 1) {
      const [begin, ...rest] = this.#request(2 * index + 1, encoder)
      frames.push(...begin!)
      queues.push(rest.flat())
      for (let count = this.below(4); count > 0; count -= 1) frames.push(...this.#fromSome(queues))
    }
    while (queues.some((queue) => queue.length > 0)) frames.push(...this.#fromSome(queues))
    // One acknowledgement belongs to the SETTINGS of the server; nghttp2 refuses further ones.
    frames.splice(1, 0, frame(FrameType.SETTINGS, 1, 0))
    const edits = this.below(4)
    for (let count = 0; count < edits; count += 1) this.#edit(frames, streams)
    return { pieces: [PREFACE, ...frames], streams, isMutated: edits > 0 }
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[this.below(values.length)]!
  }

  #fromSome(queues: readonly Buffer[][]): Buffer[] {
    const first = this.#pick(queues).shift()
    const control = this.below(8) === 0 ? [this.#control(1 + 2 * this.below(queues.length))] : []
    return first === undefined ? control : [first, ...control]
  }

  #settings(): Buffer {
    const values: [number, number][] = []
    if (this.below(3) === 0) values.push([Setting.INITIAL_WINDOW_SIZE, this.#pick([0, 1, 100, 65_535, 1_000_000])])
    if (this.below(4) === 0) values.push([Setting.ENABLE_PUSH, this.below(2)])
    if (this.below(4) === 0) values.push([Setting.MAX_FRAME_SIZE, this.#pick([16_384, 100_000])])
    if (this.below(6) === 0) values.push([0x99, this.below(1_000)])
    return settings(...values)
  }

  /** Returns the frames of a request. The first entry has to stay together, because of CONTINUATION. */
  #request(id: number, encoder: Encoder): Buffer[][] {
    const method = this.#repeated === undefined ? this.#pick(methods) : 'POST'
    const body = this.below(3) === 0 ? '' : 'body'.repeat(this.#pick([1, 10, 300, 9_000])).slice(this.below(4))
    const head: Field[] =
      method === 'CONNECT'
        ? [[':method', method]]
        : [
            [':method', method],
            [':scheme', 'http'],
            [':path', this.#repeated === undefined ? this.#pick(paths) : '/'],
          ]
    head.push([':authority', 'gateway'])
    head.push(...(this.#repeated ?? this.#fields()))
    if (this.#repeated !== undefined && this.below(3) === 0) head.push(['grpc-timeout', `${this.below(1_000)}m`])
    const declaresLength = method !== 'CONNECT' && this.#repeated === undefined && this.below(2) === 0
    if (declaresLength) head.push(['content-length', String(body.length)])
    if (this.below(10) === 0) head.splice(this.below(head.length + 1), 0, this.#pick(odd))
    if (this.below(40) === 0) head.splice(this.below(head.length), 1)
    const hasTrailers = this.below(6) === 0
    const endsAtOnce = body === '' && !hasTrailers && this.below(4) > 0
    const frames = [this.#headers(id, encoder.encode(head), endsAtOnce)]
    if (endsAtOnce) return frames
    const sizes = this.below(3) === 0 ? 1 + this.below(50) : 16_000
    for (let at = 0; at < body.length; at += Math.max(sizes, body.length / 20)) {
      const part = body.slice(at, at + Math.max(sizes, body.length / 20))
      const isLast = at + Math.max(sizes, body.length / 20) >= body.length && !hasTrailers && this.below(2) === 0
      frames.push([this.#data(id, part, isLast)])
      if (isLast) return frames
    }
    // The block of trailers does not use the table, because its place among the frames is not known yet.
    if (hasTrailers) frames.push([frame(FrameType.HEADERS, END_STREAM | END_HEADERS, id, block([this.#trailer()]))])
    else frames.push([this.#data(id, '', true)])
    return frames
  }

  #fields(): Field[] {
    return Array.from({ length: this.below(4) }, () => this.#pick(fields))
  }

  #trailer(): Field {
    return this.below(6) === 0 ? this.#pick(odd) : ['x-trailer', 'a']
  }

  #headers(id: number, bytes: Buffer, endsStream: boolean): Buffer[] {
    const end = endsStream ? END_STREAM : 0
    const flags = (this.below(5) === 0 ? PADDED : 0) | (this.below(5) === 0 ? PRIORITY : 0)
    const parts: Uint8Array[] = []
    const padding = this.below(20)
    if (flags & PADDED) parts.push(Buffer.of(padding))
    if (flags & PRIORITY) parts.push(Buffer.from(`${uint32(0)}\x10`, 'latin1'))
    const cut = this.below(4) === 0 ? this.below(bytes.length + 1) : bytes.length
    parts.push(bytes.subarray(0, cut))
    if (flags & PADDED) parts.push(Buffer.alloc(padding))
    const isWhole = cut === bytes.length
    const frames = [frame(FrameType.HEADERS, flags | end | (isWhole ? END_HEADERS : 0), id, Buffer.concat(parts))]
    if (!isWhole) frames.push(frame(FrameType.CONTINUATION, END_HEADERS, id, bytes.subarray(cut)))
    return frames
  }

  #data(id: number, part: string, endsStream: boolean): Buffer {
    const end = endsStream ? END_STREAM : 0
    if (this.below(5) > 0) return frame(FrameType.DATA, end, id, part)
    const padding = this.below(256)
    return frame(FrameType.DATA, end | PADDED, id, String.fromCharCode(padding) + part + '\0'.repeat(padding))
  }

  #control(id: number): Buffer {
    switch (this.below(8)) {
      case 0:
        return update(0, 1 + this.below(100_000))
      case 1:
        return update(id, 1 + this.below(100_000))
      case 2:
        return this.#settings()
      case 3:
        return frame(FrameType.PRIORITY, 0, id, `${uint32(0)}\x10`)
      case 4:
        return frame(0xb0 + this.below(16), this.below(256), id, 'unknown')
      case 5:
        return frame(FrameType.RST_STREAM, 0, id, uint32(ErrorCode.CANCEL))
      default:
        return frame(FrameType.PING, 0, 0, 'pingping')
    }
  }

  #edit(frames: Buffer[], streams: number): void {
    const at = this.below(frames.length)
    const edited = Buffer.from(frames[at] ?? [])
    if (edited.length < FRAME_HEAD_BYTES) return
    frames[at] = edited
    switch (this.below(14)) {
      case 0:
        edited[this.below(edited.length)]! ^= 1 << this.below(8)
        break
      case 1:
        edited[this.below(edited.length)] = this.below(256)
        break
      case 2:
        frames.splice(at, 1)
        break
      case 3:
        frames.splice(this.below(frames.length + 1), 0, edited)
        break
      case 4:
        frames.splice(at, 1)
        frames.splice(this.below(frames.length + 1), 0, edited)
        break
      case 5:
        edited[4] = this.#pick([0, 1, 4, 5, 8, 9, 12, 13, 32, 36, 37, 45, this.below(256)])
        break
      case 6:
        edited.writeUInt32BE(this.below(2 * streams + 4), 5)
        break
      case 7:
        edited[3] = this.below(11)
        break
      case 8:
        // The length without the payload: what follows is read at a wrong place.
        edited.writeUIntBE(
          this.#pick([0, 1, 4, 5, 8, 9, 100, edited.length - 10, edited.length - 8, 16_385]) & 0xffffff,
          0,
          3,
        )
        break
      case 9: {
        const end = FRAME_HEAD_BYTES + this.below(edited.length - FRAME_HEAD_BYTES + 1)
        edited.writeUIntBE(end - FRAME_HEAD_BYTES, 0, 3)
        frames[at] = edited.subarray(0, end)
        break
      }
      case 10:
        frames.splice(at, 0, this.#control(1 + 2 * this.below(streams + 1)))
        break
      case 11:
        frames.splice(
          at,
          0,
          frame(
            this.below(11),
            this.below(64),
            this.below(2 * streams + 2),
            Buffer.alloc(this.below(20), this.below(256)),
          ),
        )
        break
      case 13: {
        // The same block on a new stream, after others may have changed the dynamic table.
        const heads = frames.filter((one) => one[3] === FrameType.HEADERS && one.length > FRAME_HEAD_BYTES)
        if (heads.length === 0) break
        const repeated = Buffer.from(this.#pick(heads))
        repeated[4] = (repeated[4] ?? 0) | END_STREAM
        repeated.writeUInt32BE(2 * streams + 1, 5)
        frames.push(repeated)
        break
      }
      case 12:
        frames[at] = edited.subarray(0, this.below(edited.length + 1))
        break
    }
  }
}
