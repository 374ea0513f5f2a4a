import { once } from 'node:events'
import { createServer, type Http2Server, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { Duplex } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ErrorCode, FRAME_HEAD_BYTES, FrameType, PREFACE } from './frames.ts'
import type { MutatedSession, MutatedSessions } from './mutated-sessions.harness.ts'
import { END_STREAM, framesIn, type ReceivedFrame, TestSession } from './server-session.harness.ts'

/** A request that was received completely. */
interface CompleteRequest {
  readonly fields: readonly string[]
  readonly body: string
}

interface Reading {
  readonly complete: Map<number, CompleteRequest>
  readonly frames: readonly ReceivedFrame[]
  readonly isEnded: boolean
}

export interface Comparison {
  sessions: number
  streams: number
  mutated: number
  /** The requests that both readers have received completely. */
  complete: number
  /** The requests that only nghttp2 has received completely, by what `ServerSession` has sent instead. */
  readonly stricter: Map<string, number>
  /** The requests that only `ServerSession` has received completely, by what nghttp2 has sent instead. */
  readonly looser: Map<string, number>
  /** Examples of `looser`, in hexadecimal digits. */
  readonly examples: Map<string, string>
  readonly faults: string[]
}

export const newComparison = (): Comparison => ({
  sessions: 0,
  streams: 0,
  mutated: 0,
  complete: 0,
  stricter: new Map(),
  looser: new Map(),
  examples: new Map(),
  faults: [],
})

/** Returns a generator of uniform numbers in [0, 1). The same seed results in the same numbers. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Turns of the event loop in which node:http2 must be silent before the next frame. */
const QUIET_TURNS = 3

/** A connection to node:http2 without a socket. */
class Pipe extends Duplex {
  readonly written: Buffer[] = []
  activity = 0

  override _read(): void {}

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.written.push(chunk)
    this.activity += 1
    done()
  }
}

/** Lets nghttp2 read sessions, frame by frame. */
export class Nghttp2Reader {
  readonly #server: Http2Server

  constructor() {
    this.#server = createServer()
    this.#server.on('sessionError', () => {})
  }

  async read({ pieces }: MutatedSession): Promise<Reading> {
    const pipe = new Pipe()
    const complete = new Map<number, CompleteRequest>()
    pipe.on('error', () => {})
    this.#server.once('session', (session: ServerHttp2Session) => {
      session.on('stream', (...args: unknown[]) => {
        const [stream, , , rawHeaders] = args as [ServerHttp2Stream, unknown, number, string[]]
        serve(stream, rawHeaders, pipe, complete)
      })
    })
    this.#server.emit('connection', pipe)
    for (const piece of framed(pieces)) {
      if (pipe.destroyed) break
      pipe.push(piece)
      await quiet(pipe)
    }
    const frames = framesIn(Buffer.concat(pipe.written))
    const isEnded = pipe.destroyed || pipe.writableEnded || frames.some(({ type }) => type === FrameType.GOAWAY)
    if (!pipe.destroyed) {
      pipe.push(null)
      pipe.destroy()
      await once(pipe, 'close')
    }
    return { complete, frames, isEnded }
  }
}

function serve(
  stream: ServerHttp2Stream,
  fields: readonly string[],
  pipe: Pipe,
  complete: Map<number, CompleteRequest>,
): void {
  const { id } = stream
  const parts: Buffer[] = []
  stream.on('error', () => {})
  stream.on('data', (part: Buffer) => {
    pipe.activity += 1
    parts.push(part)
  })
  stream.on('end', () => {
    pipe.activity += 1
    // Node also emits `end` for streams that were reset.
    if (stream.aborted || stream.destroyed || stream.rstCode !== 0) return
    complete.set(id!, { fields, body: Buffer.concat(parts).toString('latin1') })
    if (stream.closed) return
    stream.respond({ ':status': 200 })
    stream.end('ok')
  })
}

/**
 * Divides a session where its frames end, as their lengths say. node:http2 drops requests that end in the same piece as the
 * connection.
 */
function framed(pieces: readonly Buffer[]): Buffer[] {
  const bytes = Buffer.concat(pieces)
  const frames: Buffer[] = []
  let at = 0
  for (let end = PREFACE.length; end <= bytes.length; ) {
    frames.push(bytes.subarray(at, end))
    at = end
    end = at + FRAME_HEAD_BYTES + (at + 3 <= bytes.length ? bytes.readUIntBE(at, 3) : 0)
  }
  return [...frames, bytes.subarray(at)]
}

async function quiet(pipe: Pipe): Promise<void> {
  let seen = -1
  for (let turns = 0; turns < QUIET_TURNS; turns += 1) {
    await nextTurn()
    if (pipe.activity !== seen) turns = 0
    seen = pipe.activity
  }
}

/** Lets `ServerSession` read a session in these pieces. Reports what it must never do. */
async function readOwn(pieces: readonly Buffer[], faults: string[]): Promise<Reading> {
  const session = new TestSession({ isGreeted: false })
  try {
    await session.feed(...pieces)
  } catch (error) {
    faults.push(`threw ${error}`)
  }
  if (session.failures.length > 0) faults.push(`failed with ${session.failures[0]}`)
  const frames = framesIn(session.socket.written)
  const complete = new Map<number, CompleteRequest>()
  for (const { id, head, pieces: body, ending, stream } of session.seen) {
    if (!ending.startsWith('end')) continue
    complete.set(id, { fields: head.rawHeaders, body: Buffer.concat(body).toString('latin1') })
    const isAnswered = frames.some(
      (one) => one.stream === id && (one.type === FrameType.HEADERS || one.type === FrameType.RST_STREAM),
    )
    if (!isAnswered && !session.session.destroyed) faults.push(`stream ${id} was not answered`)
    if (stream.closed && stream.unsent.length > 0) faults.push(`stream ${id} keeps its answer`)
  }
  faults.push(...faultsOfOutput(frames))
  const isEnded = session.session.destroyed
  session.socket.emit('end')
  if (session.ended !== session.seen.length) faults.push('a stream was not ended with its connection')
  return { complete, frames, isEnded }
}

/** Returns the faults of what a server has sent. */
function faultsOfOutput(frames: readonly ReceivedFrame[]): string[] {
  const faults: string[] = []
  const states = new Map<number, 'answered' | 'ended'>()
  let isOver = false
  for (const { type, flags, stream } of frames) {
    if (isOver) faults.push('a frame after GOAWAY')
    if (type === FrameType.GOAWAY) isOver = true
    if (type !== FrameType.HEADERS && type !== FrameType.DATA) {
      if (type === FrameType.RST_STREAM) states.set(stream, 'ended')
      continue
    }
    const state = states.get(stream)
    if (state === 'ended') faults.push(`a frame on ended stream ${stream}`)
    if (state === undefined && type === FrameType.DATA) faults.push(`DATA before HEADERS on stream ${stream}`)
    states.set(stream, (flags & END_STREAM) !== 0 ? 'ended' : 'answered')
  }
  return faults
}

const nameOf = (code: number): string =>
  Object.entries(ErrorCode).find(([, value]) => value === code)?.[0] ?? `code ${code}`

/** Returns how a server has answered a stream: by a reset, by the end of the connection, or not. */
function fateOf({ frames, isEnded }: Reading, id: number): string {
  const reset = frames.find(({ type, stream }) => type === FrameType.RST_STREAM && stream === id)
  if (reset !== undefined) return `RST_STREAM ${nameOf(reset.payload.readUInt32BE())}`
  const goaway = frames.find(({ type }) => type === FrameType.GOAWAY)
  if (goaway !== undefined) return `GOAWAY ${nameOf(goaway.payload.readUInt32BE(4))}`
  return isEnded ? 'the end of the connection' : NOTHING
}

const REFUSED = 'RST_STREAM PROTOCOL_ERROR'
const NOTHING = 'nothing'
const UNEXPLAINED = 'unexplained'

/** Returns why nghttp2 refuses a head that `ServerSession` accepts, if it is known. */
function causeInHead(fields: readonly string[]): string | undefined {
  const fieldOf = (name: string): string | undefined => {
    const at = fields.findIndex((field, index) => index % 2 === 0 && field === name)
    return at === -1 ? undefined : fields[at + 1]
  }
  const [method, scheme, path] = [fieldOf(':method')!, fieldOf(':scheme'), fieldOf(':path')]
  const authority = fieldOf(':authority') ?? fieldOf('host')
  if (fields.filter((field, index) => index % 2 === 0 && field === 'host').length > 1) return 'several hosts'
  if (!authority) return 'neither :authority nor host'
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(method)) return 'a :method that is not a token'
  if (scheme !== undefined && !/^[A-Za-z][A-Za-z0-9+.-]*$/.test(scheme)) return 'an invalid :scheme'
  if (path !== undefined && !path.startsWith('/') && !(path === '*' && method === 'OPTIONS'))
    return 'a :path without a slash'
  if (path !== undefined && /[^!-~\x80-\xff]/.test(path)) return 'a :path with a blank'
  if (!/^[A-Za-z0-9._~!$&'()*+,;=:@%[\]-]*$/.test(authority))
    return 'an :authority with other characters than those of a URI'
  return undefined
}

/** Returns whether nghttp2 may have refused the trailers of a stream, which `ServerSession` checks less because they are not used. */
function causeInTrailers(sent: readonly ReceivedFrame[], id: number): string | undefined {
  const heads = sent.filter(({ type, stream }) => type === FrameType.HEADERS && (stream & 0x7fffffff) === id)
  return heads.length > 1 ? 'trailers with fields of a head' : undefined
}

/** Returns whether a SETTINGS frame has a setting of RFC 8441 or 9218. Only nghttp2 checks their values. */
function hasLaterSetting(payload: Buffer): boolean {
  for (let at = 0; at + 6 <= payload.length; at += 6) if ([8, 9].includes(payload.readUInt16BE(at))) return true
  return false
}

/** INTERNAL_ERROR says that Node has failed, not the client. Node 24 does so after data beyond the declared length. */
const causeInNode = (fate: string): string | undefined =>
  fate === 'GOAWAY INTERNAL_ERROR' ? 'an internal error of node:http2' : undefined

/** Returns why nghttp2 has ended a connection that `ServerSession` continues, if it is known. */
function causeOfEnd(sent: readonly ReceivedFrame[]): string | undefined {
  const ended = new Set<number>()
  let acknowledgements = 0
  for (const { type, flags, stream, payload } of sent) {
    const id = stream & 0x7fffffff
    if (type === FrameType.SETTINGS && (flags & 1) !== 0) acknowledgements += 1
    if (type === FrameType.SETTINGS && hasLaterSetting(payload)) return 'SETTINGS of later RFCs'
    // Node ends the session after it, although only a server has to stop opening streams then.
    if (type === FrameType.GOAWAY) return 'GOAWAY of the client'
    if (type === FrameType.PING && (flags & 1) !== 0) return 'PING ack that was not expected'
    if (acknowledgements > 1) return 'SETTINGS ack that was not expected'
    if (type === FrameType.PRIORITY && payload.length !== 5) return 'PRIORITY of a wrong length'
    if (type === FrameType.PRIORITY && (payload.readUInt32BE() & 0x7fffffff) === id) return 'PRIORITY on itself'
    if ((type === FrameType.DATA || type === FrameType.HEADERS) && ended.has(id))
      return 'a frame after the end of its stream'
    const endsStream = (type === FrameType.DATA || type === FrameType.HEADERS) && (flags & END_STREAM) !== 0
    if (endsStream || type === FrameType.RST_STREAM) ended.add(id)
  }
  return undefined
}

const isEqual = (one: CompleteRequest, other: CompleteRequest): boolean =>
  one.body === other.body &&
  one.fields.length === other.fields.length &&
  one.fields.every((text, index) => text === other.fields[index])

const count = (counts: Map<string, number>, name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1)

/** Reads one session with both, and adds the differences. */
export async function compareOne(
  session: MutatedSession,
  pieces: readonly Buffer[],
  nghttp2: Nghttp2Reader,
  result: Comparison,
): Promise<void> {
  const faults: string[] = []
  const [theirs, own] = await Promise.all([nghttp2.read(session), readOwn(pieces, faults)])
  result.sessions += 1
  result.streams += session.streams
  if (session.isMutated) result.mutated += 1
  const sent = () => framesIn(Buffer.concat(session.pieces.slice(1)))
  const example = () => Buffer.concat(session.pieces).subarray(PREFACE.length).toString('hex')
  for (const [id, request] of own.complete) {
    const other = theirs.complete.get(id)
    if (other === undefined) {
      const fate = fateOf(theirs, id)
      const ofStream = fate === REFUSED ? (causeInHead(request.fields) ?? causeInTrailers(sent(), id)) : undefined
      const cause = ofStream ?? (theirs.isEnded ? (causeInNode(fate) ?? causeOfEnd(sent())) : undefined)
      const name = `${fate}: ${cause ?? UNEXPLAINED}`
      count(result.looser, name)
      if (cause === undefined) faults.push(`nghttp2 does not receive stream ${id}: ${fate}`)
      const known = result.examples.get(name)
      const text = `stream ${id}: ${example()}`
      if (known === undefined || known.length > text.length) result.examples.set(name, text)
    } else if (isEqual(request, other)) {
      result.complete += 1
    } else {
      faults.push(`stream ${id} was read as ${JSON.stringify(request)}, but by nghttp2 as ${JSON.stringify(other)}`)
    }
  }
  for (const id of theirs.complete.keys()) {
    if (own.complete.has(id)) continue
    const fate = fateOf(own, id)
    count(result.stricter, fate)
    // Node does not report a reset without an error as one.
    const wasReset = sent().some(({ type, stream }) => type === FrameType.RST_STREAM && (stream & 0x7fffffff) === id)
    if (fate === NOTHING && !wasReset) faults.push(`ServerSession does not receive stream ${id}`)
  }
  result.faults.push(...faults.map((fault) => `${fault}: ${example()}`))
}

/** Divides a session at random places. */
function divided({ pieces }: MutatedSession, mutated: MutatedSessions): Buffer[] {
  const bytes = Buffer.concat(pieces)
  const ends = Array.from({ length: mutated.below(8) }, () => mutated.below(bytes.length + 1))
  const places = [0, ...ends, bytes.length].sort((a, b) => a - b)
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end))
}

const AT_ONCE = 64

/**
 * Reads mutated sessions with `ServerSession` and with nghttp2, until they had this many streams. A request that `ServerSession`
 * receives completely must be received by nghttp2 with the same fields and body.
 */
export async function compareSessions(
  mutated: MutatedSessions,
  streams: number,
  result = newComparison(),
): Promise<Comparison> {
  const nghttp2 = new Nghttp2Reader()
  const end = result.streams + streams
  while (result.streams < end && result.faults.length === 0) {
    const sessions = Array.from({ length: AT_ONCE }, () => mutated.next())
    await Promise.all(sessions.map((session) => compareOne(session, divided(session, mutated), nghttp2, result)))
  }
  return result
}
