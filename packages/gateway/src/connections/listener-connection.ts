import type { Http2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { Clock } from '@penstock/runtime'
import type { BodyReceiver } from '../contract/body-receiver.ts'
import { type BearerCredential, type Credential, RepeatedCredential } from '../contract/credential.ts'
import type { Cell } from '../metrics/registry.ts'
import type { RejectedConnectionScheduler, SchedulableConnection } from './rejected-connection-scheduler.ts'

export interface ConnectionTimes {
  readonly headerTimeoutMs: number
  readonly idleBodyTimeoutMs: number
  readonly idleConnectionTimeoutMs: number
}

/** While draining, a connection that has been quiet for this long is closed. */
const DRAIN_QUIET_MS = 1_000
/** The time after GOAWAY for streams to finish before the connection is cut. */
const CLOSE_GRACE_MS = 75_000
/** GOAWAY with this id asks for no new streams, but accepts those that are already on their way. */
const ANY_STREAM = 2 ** 31 - 1

/** The entry of a connection in the listener's connection table. */
export interface ConnectionPlace {
  isReserved(): boolean
  requestBegan(): void
}

/**
 * The reasons for not reading from a connection, as bits: a rejected credential, a body buffer that is full, bytes that arrived
 * before the answer to the current request, and replies that the client does not read. While node:http reads the connection,
 * it handles all but the first one itself.
 */
const holds = { rejected: 1, body: 2, early: 4, unsent: 8 } as const
type Hold = keyof typeof holds

/** Pauses and resumes reading from a connection, which is read while no reason holds it. */
export interface ReadingHolds {
  holdReading(reason: Hold): void
  releaseReading(reason: Hold): void
}

/** The other end of a connection. */
export interface Peer {
  readonly source: string
  /** `undefined` if the listener demands no certificate. */
  readonly certificateNames: readonly string[] | undefined
  /** Whether the connection exceeds the limits, so that only health probes are answered on it. */
  readonly isReserved: boolean
  /** Returns the credential in a form that keeps what was computed for it, if the last request of the connection had the same. */
  repeated(credential: Credential): Credential
}

/** The peer of a stream that node:http2 reports after the end of its connection. */
export const unknownPeer: Peer = {
  source: '',
  certificateNames: [],
  isReserved: false,
  repeated: (credential) => credential,
}

/** An HTTP/2 session, of node:http2 or of the gateway itself. */
interface Http2Control {
  readonly destroyed: boolean
  goaway(code: number, lastStreamId: number): void
  /** Refuses further streams, and ends the connection when the open ones have ended. */
  close(): void
  /** Enforces the time limits of streams, if they have no timers of their own. */
  sweep?(nowMs: number): void
}

const key = Symbol('connection')

/** One open connection and its timeouts. The listener calls `sweep` every second. */
export class Connection implements Peer, ReadingHolds, SchedulableConnection {
  readonly source: string
  readonly certificateNames: readonly string[] | undefined
  /** Whether the connection is to be closed: over HTTP/1.1, the next reply has `Connection: close`. */
  isRetiring = false
  /** Whether an HTTP/1 reply with `Connection: close` was sent; it must be the last one. */
  hasSentClose = false
  rejections = 0
  /** The request that is receiving its body on an HTTP/1.1 connection. */
  bodyReceiver: BodyReceiver | undefined
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #retireAtMs: number
  readonly #scheduler: RejectedConnectionScheduler
  readonly #place: ConnectionPlace
  #cell: Cell | undefined
  #session: Http2Control | undefined
  #credential: RepeatedCredential | undefined
  #hasSentRequest = false
  #isDraining = false
  #holds = 0
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
    this.#progressAtMs = clock.monotonicMs()
    this.#headSinceMs = this.#progressAtMs
    this.#retireAtMs = this.#progressAtMs + maxAgeMs
    Object.defineProperty(socket, key, { value: this })
  }

  /** Counts the connection in `cell`, which contains the number of open connections with the same protocol. */
  opened(cell: Cell, session?: Http2Control): void {
    this.#cell = cell
    this.#session = session
    if (session !== undefined) Object.defineProperty(session, key, { value: this })
    cell.value += 1
  }

  closed(): void {
    if (this.#cell !== undefined) this.#cell.value -= 1
    this.#cell = undefined
  }

  /** Records that a request was refused because of its credential. Over HTTP/1.1 only. */
  recordRejectedCredential(): void {
    this.#scheduler.recordRejection(this)
  }

  pauseReading(): void {
    this.holdReading('rejected')
  }

  resumeReading(): void {
    this.releaseReading('rejected')
  }

  holdReading(reason: Hold): void {
    if (this.#holds === 0) this.#socket.pause()
    this.#holds |= holds[reason]
  }

  releaseReading(reason: Hold): void {
    if ((this.#holds & holds[reason]) === 0) return
    this.#holds &= ~holds[reason]
    // A body receiver that has paused reading resumes it itself.
    if (this.#holds === 0 && this.bodyReceiver?.isPaused !== true) this.#socket.resume()
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

  streamBegan(): void {
    if (this.#requests === 0) this.#place.requestBegan()
    this.#requests += 1
    this.#streams += 1
  }

  streamEnded(): void {
    this.#streams -= 1
  }

  repeated(credential: Credential): Credential {
    if (credential.kind !== 'bearer') return credential
    if (!isSame(credential, this.#credential)) this.#credential = new RepeatedCredential(credential)
    return this.#credential!
  }

  /** Returns whether the connection has an unanswered request. */
  get isBusy(): boolean {
    // Over HTTP/1 the rest of a body is discarded after a refusal; that request is treated as answered.
    return this.#session === undefined ? this.hasRequests && this.#cutAtMs === undefined : this.#streams > 0
  }

  /** @param hasSetCut whether the request has called `cutAfter`, which then no longer applies */
  requestEnded(hasSetCut: boolean): void {
    this.#underWay -= 1
    if (hasSetCut) this.#cutAtMs = undefined
  }

  get hasRequests(): boolean {
    return this.#underWay > 0
  }

  cutAfter(ms: number): void {
    this.#cutAtMs = this.#clock.monotonicMs() + ms
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
    this.#hasSentRequest = true
    if (bodyReceiver.isPaused) this.#progressAtMs = nowMs
    else if (nowMs - this.#progressAtMs >= times.idleBodyTimeoutMs) bodyReceiver.onStalled()
  }

  /** Enforces the timeouts between requests. Bytes that arrive then belong to the head of the next request. */
  #sweepIdle(bytes: number, nowMs: number, times: ConnectionTimes): void {
    if (this.#requests !== this.#requestsSeen) {
      this.#requestsSeen = this.#requests
      this.#bytesWhenIdle = bytes
      this.#progressAtMs = nowMs
      this.#hasSentRequest = true
      this.#headSinceMs = undefined
    } else if (bytes !== this.#bytesWhenIdle) {
      this.#headSinceMs ??= nowMs
    }
    const quietMs = nowMs - this.#progressAtMs
    const isHeadLate = this.#headSinceMs !== undefined && nowMs - this.#headSinceMs >= times.headerTimeoutMs
    if (isHeadLate || quietMs >= times.idleConnectionTimeoutMs) this.cut()
    else if (this.#isDraining && this.#hasSentRequest && this.#headSinceMs === undefined && quietMs >= DRAIN_QUIET_MS)
      this.cut()
  }

  #sweepSession(session: Http2Control, nowMs: number, times: ConnectionTimes): void {
    session.sweep?.(nowMs)
    if (session.destroyed) this.cut()
    else if (this.#hasSentGoaway) session.close()
    else if (this.isRetiring || nowMs - this.#progressAtMs >= times.idleConnectionTimeoutMs) this.#sendGoaway(session)
  }

  /** Sends a first GOAWAY. The next sweep closes the session, so that streams opened in the meantime are not lost. */
  #sendGoaway(session: Http2Control): void {
    if (this.#hasSentGoaway || session.destroyed) return
    this.#hasSentGoaway = true
    session.goaway(0, ANY_STREAM)
    this.cutAfter(CLOSE_GRACE_MS)
  }
}

/** Returns the connection of a socket that the listener has accepted. */
export function connectionOf(socket: Socket): Connection {
  return (socket as Socket & { readonly [key]: Connection })[key]
}

/** Returns the connection of an HTTP/2 session that the listener has opened. */
export function connectionOfSession(session: Http2Session): Connection | undefined {
  return (session as Http2Session & { readonly [key]?: Connection })[key]
}

const isSame = (one: BearerCredential, other: BearerCredential | undefined): boolean =>
  other !== undefined && one.value === other.value && one.from === other.from
