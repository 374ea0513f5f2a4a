import type { Http2Session, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { Clock } from '@penstock/runtime'
import type { Cell } from '../metrics/registry.ts'
import type { SchedulableConnection, RejectedConnectionScheduler } from './rejected-connection-scheduler.ts'

/** Who is waiting for the rest of a request on a connection of HTTP/1.1. */
export interface BodyReceiver {
  /** We are the ones who do not read. */
  readonly isPaused: boolean
  /** No byte has come for too long. */
  onStalled(): void
  /** What came is not HTTP. */
  onBroken(): void
}

export interface ConnectionTimes {
  readonly headerTimeoutMs: number
  readonly idleBodyTimeoutMs: number
  readonly idleConnectionTimeoutMs: number
}

/** While we drain, a client that has been quiet for so long is not about to send. */
const DRAIN_QUIET_MS = 1_000
/** What anyone may still have to say after its GOAWAY. */
const CLOSE_GRACE_MS = 75_000
/** GOAWAY with this id: no new streams, please, but those on their way are still taken. */
const ANY_STREAM = 2 ** 31 - 1

/** The place of a connection among those that the listener keeps. */
export interface ConnectionPlace {
  isReserved(): boolean
  requestBegan(): void
}

/** Who is at the other end. */
export interface Peer {
  readonly source: string
  /** `undefined` where no certificate is demanded. */
  readonly certificateNames: readonly string[] | undefined
  /** The connection is in the reserve, where only health probes are answered. */
  readonly isReserved: boolean
}

const unknownPeer: Peer = { source: '', certificateNames: [], isReserved: false }

const key = Symbol('connection')

/** One open socket: what it waits for, and since when. Looked at every second by whoever holds all of them. */
export class Connection implements Peer, SchedulableConnection {
  readonly source: string
  readonly certificateNames: readonly string[] | undefined
  /** Over HTTP/1.1 the next reply whose request has been read says `Connection: close`. */
  isRetiring = false
  /** An HTTP/1 answer has said `Connection: close`, so it must be the last. */
  hasSentClose = false
  rejections = 0
  bodyReceiver: BodyReceiver | undefined
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #retireAtMs: number
  readonly #scheduler: RejectedConnectionScheduler
  readonly #place: ConnectionPlace
  #cell: Cell | undefined
  #session: ServerHttp2Session | undefined
  #hasSpoken = false
  #isDraining = false
  #isPausedByScheduler = false
  #requests = 0
  #underWay = 0
  #streams = 0
  #requestsSeen = 0
  #bytesSeen = 0
  #bytesWhenIdle = 0
  #progressAtMs: number
  #headSinceMs: number | undefined
  #cutAtMs: number | undefined
  #hasSentGoaway = false

  constructor(
    socket: Socket,
    clock: Clock,
    maxAgeMs: number,
    certificateNames: readonly string[] | undefined,
    scheduler: RejectedConnectionScheduler,
    place: ConnectionPlace,
  ) {
    this.source = socket.remoteAddress ?? ''
    this.certificateNames = certificateNames
    this.#socket = socket
    this.#clock = clock
    this.#scheduler = scheduler
    this.#place = place
    // A connection in the reserve is closed after one answer.
    this.isRetiring = place.isReserved()
    this.#progressAtMs = clock.nowMs()
    this.#headSinceMs = this.#progressAtMs
    this.#retireAtMs = this.#progressAtMs + maxAgeMs
    Object.defineProperty(socket, key, { value: this })
  }

  /** From here on it counts as a connection of this protocol. */
  opened(cell: Cell, session?: ServerHttp2Session): void {
    this.#cell = cell
    this.#session = session
    if (session !== undefined) Object.defineProperty(session, key, { value: this })
    cell.value += 1
  }

  closed(): void {
    if (this.#cell !== undefined) this.#cell.value -= 1
    this.#cell = undefined
  }

  /** A request on it has been refused for its credential. Over HTTP/1.1 only. */
  recordRejectedCredential(): void {
    this.#scheduler.recordRejection(this)
  }

  pauseReading(): void {
    this.#isPausedByScheduler = true
    this.#socket.pause()
  }

  resumeReading(): void {
    if (!this.#isPausedByScheduler) return
    this.#isPausedByScheduler = false
    // Whoever paused for reasons of its own goes on reading by itself.
    if (this.bodyReceiver?.isPaused !== true) this.#socket.resume()
  }

  get isReserved(): boolean {
    return this.isRetiring && this.#place.isReserved()
  }

  /** Counts a request over HTTP/1. */
  requestBegan(): void {
    if (this.#requests === 0) this.#place.requestBegan()
    this.#requests += 1
    this.#underWay += 1
  }

  streamBegan(stream: ServerHttp2Stream): void {
    if (this.#requests === 0) this.#place.requestBegan()
    this.#requests += 1
    this.#streams += 1
    stream.once('close', () => {
      this.#streams -= 1
    })
  }

  /** Tells whether the connection has an unanswered request. */
  get isBusy(): boolean {
    // Over HTTP/1 the rest of a body is discarded after a refusal; that request counts as answered.
    return this.#session === undefined ? this.hasRequests && this.#cutAtMs === undefined : this.#streams > 0
  }

  requestEnded(): void {
    this.#underWay -= 1
    this.#cutAtMs = undefined
  }

  get hasRequests(): boolean {
    return this.#underWay > 0
  }

  cutAfter(ms: number): void {
    this.#cutAtMs = this.#clock.nowMs() + ms
  }

  cut(): void {
    this.#socket.destroy()
  }

  drain(): void {
    this.#isDraining = true
    this.isRetiring = true
    if (this.#session !== undefined) this.#sendGoaway(this.#session)
  }

  sweep(nowMs: number, times: ConnectionTimes): void {
    if (nowMs >= this.#retireAtMs) this.isRetiring = true
    if (this.#cutAtMs !== undefined && nowMs >= this.#cutAtMs) {
      this.cut()
      return
    }
    const bytes = this.#socket.bytesRead
    if (bytes !== this.#bytesSeen) {
      this.#bytesSeen = bytes
      this.#progressAtMs = nowMs
    }
    if (this.#session !== undefined) this.#sweepSession(this.#session, nowMs, times)
    else if (this.bodyReceiver !== undefined) this.#sweepBody(this.bodyReceiver, nowMs, times)
    else if (this.#underWay === 0) this.#sweepIdle(bytes, nowMs, times)
  }

  #sweepBody(bodyReceiver: BodyReceiver, nowMs: number, times: ConnectionTimes): void {
    this.#hasSpoken = true
    if (bodyReceiver.isPaused) this.#progressAtMs = nowMs
    else if (nowMs - this.#progressAtMs >= times.idleBodyTimeoutMs) bodyReceiver.onStalled()
  }

  /** Nothing is under way, so bytes that come are the head of a request. */
  #sweepIdle(bytes: number, nowMs: number, times: ConnectionTimes): void {
    if (this.#requests !== this.#requestsSeen) {
      this.#requestsSeen = this.#requests
      this.#bytesWhenIdle = bytes
      this.#progressAtMs = nowMs
      this.#hasSpoken = true
      this.#headSinceMs = undefined
    } else if (bytes !== this.#bytesWhenIdle) {
      this.#headSinceMs ??= nowMs
    }
    const quietMs = nowMs - this.#progressAtMs
    const isHeadLate = this.#headSinceMs !== undefined && nowMs - this.#headSinceMs >= times.headerTimeoutMs
    if (isHeadLate || quietMs >= times.idleConnectionTimeoutMs) this.cut()
    else if (this.#isDraining && this.#hasSpoken && this.#headSinceMs === undefined && quietMs >= DRAIN_QUIET_MS) this.cut()
  }

  #sweepSession(session: ServerHttp2Session, nowMs: number, times: ConnectionTimes): void {
    if (session.destroyed) this.cut()
    else if (this.#hasSentGoaway) session.close()
    else if (this.isRetiring || nowMs - this.#progressAtMs >= times.idleConnectionTimeoutMs) this.#sendGoaway(session)
  }

  /** In two steps, so that a stream opened before the client knew is not lost; the second comes with the next sweep. */
  #sendGoaway(session: ServerHttp2Session): void {
    if (this.#hasSentGoaway || session.destroyed) return
    this.#hasSentGoaway = true
    session.goaway(0, ANY_STREAM)
    this.cutAfter(CLOSE_GRACE_MS)
  }
}

/** Of a socket that the listener has handed out. */
export function connectionOf(socket: Socket): Connection {
  return (socket as Socket & { readonly [key]: Connection })[key]
}

/** Returns the connection of an HTTP/2 session that the listener has opened. */
export function connectionOfSession(session: Http2Session): Connection | undefined {
  return (session as Http2Session & { readonly [key]?: Connection })[key]
}

/** Returns the peer of an HTTP/2 stream; `unknownPeer` after its connection has ended. */
export function peerOf({ session }: ServerHttp2Stream): Peer {
  return (session && connectionOfSession(session)) ?? unknownPeer
}
