import { type ClientHttp2Session, connect, type Settings } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Clock } from '@penstock/runtime'
import type { Address, Addresses } from './addresses.ts'

export interface GrpcSessionLimits {
  readonly connections: number
  readonly connectTimeoutMs: number
  /** Silence with streams under way, after which a ping must be answered. */
  readonly pingAfterMs: number
  readonly pingTimeoutMs: number
  /** A connection without streams is closed after this long, before the other side does it. */
  readonly idleCloseMs: number
  /** Then the name is resolved anew by connecting anew. */
  readonly maxAgeMs: number
}

export const defaultGrpcSessionLimits: GrpcSessionLimits = {
  connections: 4,
  connectTimeoutMs: 2_000,
  pingAfterMs: 10_000,
  pingTimeoutMs: 5_000,
  idleCloseMs: 30_000,
  maxAgeMs: 300_000,
}

export interface GrpcTarget {
  readonly url: URL
  /** PEM; read at each connect, so that a new file counts. */
  readonly ca?: (() => string | undefined) | undefined
}

const MAINTENANCE_INTERVAL_MS = 5_000
/** What a connection is taken to bear until its SETTINGS have come, and at most. */
const STREAMS_PER_CONNECTION = 100
/** Bodies wait in the session until the peer's windows let them go; Node counts that memory. */
const SESSION_MEMORY_MB = 256
const settings: Settings = { enablePush: false }

/** An open connection, and how many streams it bears. */
export interface GrpcSession {
  readonly http2: ClientHttp2Session
  streams: number
  lastHeardMs: number
  readonly openedAtMs: number
  /** Of a GOAWAY: streams above it were not looked at. */
  lastStreamId: number
  isPinging: boolean
}

/** A bounded number of HTTP/2 connections to one target; opened when needed, replaced when they end. */
export class GrpcSessions {
  readonly #target: GrpcTarget
  readonly #addresses: Addresses<undefined>
  readonly #clock: Clock
  readonly #limits: GrpcSessionLimits
  readonly #open: GrpcSession[] = []
  readonly #retired = new Set<GrpcSession>()
  readonly #stop = new AbortController()
  #connecting: Promise<GrpcSession> | undefined
  #isMaintained = false

  constructor(target: GrpcTarget, addresses: Addresses<undefined>, clock: Clock, limits: GrpcSessionLimits) {
    this.#target = target
    this.#addresses = addresses
    this.#clock = clock
    this.#limits = limits
  }

  /** The least busy open connection, at once; a promise when there is none. It rejects when none can be made. */
  acquire(): GrpcSession | Promise<GrpcSession> {
    let best: GrpcSession | undefined
    for (const session of this.#open) {
      // After a GOAWAY it is closed a moment before we are told.
      if (session.http2.closed || session.http2.destroyed) continue
      if (best === undefined || session.streams < best.streams) best = session
    }
    if (best !== undefined && best.streams < capacityOf(best)) return best
    if (this.#connecting === undefined && this.#open.length < this.#limits.connections) {
      this.#connecting = this.#connect().finally(() => {
        this.#connecting = undefined
      })
      // Whoever has a connection already does not wait for this one.
      this.#connecting.catch(() => {})
    }
    return best ?? this.#connecting!
  }

  /** Waits for the streams under way; each has its own deadline. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#connecting?.catch(() => {})
    for (const session of [...this.#open]) this.#retire(session)
    await Promise.all([...this.#retired].map(({ http2 }) => closed(http2)))
  }

  async #connect(): Promise<GrpcSession> {
    const address = await this.#nextAddress()
    this.#stop.signal.throwIfAborted()
    const http2 = this.#dial(address.ip)
    const patience = new AbortController()
    const tooSlow = this.#clock.sleep(this.#limits.connectTimeoutMs, patience.signal).then(
      () => http2.destroy(Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' })),
      () => {},
    )
    try {
      await new Promise<void>((resolve, reject) => {
        // The first SETTINGS prove that HTTP/2 is spoken; a bare TCP connection proves nothing.
        http2.once('remoteSettings', () => resolve())
        http2.once('error', reject)
        http2.once('close', () => reject(new Error('closed before it was open')))
      })
    } catch (error) {
      this.#addresses.failed(address)
      http2.destroy()
      throw error
    } finally {
      patience.abort()
      await tooSlow
    }
    address.failures = 0
    return this.#adopt(http2)
  }

  /** Connections are made seldom, so old knowledge may be very old. */
  async #nextAddress(): Promise<Address<undefined>> {
    await this.#addresses.current()
    return this.#addresses.pick()
  }

  #dial(ip: string): ClientHttp2Session {
    const { url, ca } = this.#target
    const isTls = url.protocol === 'grpcs:'
    const port = Number(url.port || (isTls ? 443 : 80))
    const authority = `${isTls ? 'https' : 'http'}://${url.host}`
    return connect(authority, {
      settings,
      maxSessionMemory: SESSION_MEMORY_MB,
      createConnection: () => {
        if (!isTls) return connectTcp({ host: ip, port, noDelay: true })
        const servername = url.hostname.startsWith('[') || /^[\d.]+$/.test(url.hostname) ? '' : url.hostname
        const pem = ca?.()
        return connectTls({
          host: ip,
          port,
          ALPNProtocols: ['h2'],
          ...(servername === '' ? {} : { servername }),
          ...(pem === undefined ? {} : { ca: pem }),
        })
      },
    })
  }

  #adopt(http2: ClientHttp2Session): GrpcSession {
    const nowMs = this.#clock.nowMs()
    const session: GrpcSession = {
      http2,
      streams: 0,
      lastHeardMs: nowMs,
      openedAtMs: nowMs,
      lastStreamId: Number.POSITIVE_INFINITY,
      isPinging: false,
    }
    // What is wrong with a connection, each of its streams learns by itself.
    http2.on('error', () => {})
    http2.on('goaway', (_code, lastStreamId) => {
      session.lastStreamId = lastStreamId
      this.#retire(session)
    })
    http2.on('close', () => {
      this.#forget(session)
      this.#retired.delete(session)
    })
    this.#open.push(session)
    if (!this.#isMaintained) void this.#maintain()
    return session
  }

  /** While there are connections. */
  async #maintain(): Promise<void> {
    this.#isMaintained = true
    while (this.#open.length > 0 || this.#retired.size > 0) {
      await this.#clock.sleep(MAINTENANCE_INTERVAL_MS, this.#stop.signal).catch(() => {})
      if (this.#stop.signal.aborted) break
      const nowMs = this.#clock.nowMs()
      for (const session of [...this.#open, ...this.#retired]) this.#look(session, nowMs)
    }
    this.#isMaintained = false
  }

  #look(session: GrpcSession, nowMs: number): void {
    if (session.http2.destroyed) return
    const { idleCloseMs, maxAgeMs, pingAfterMs } = this.#limits
    const silentMs = nowMs - session.lastHeardMs
    if (session.streams === 0) {
      if (silentMs >= idleCloseMs) this.#retire(session)
    } else if (silentMs >= pingAfterMs && !session.isPinging) {
      void this.#ping(session)
    }
    if (nowMs - session.openedAtMs >= maxAgeMs) this.#retire(session)
  }

  async #ping(session: GrpcSession): Promise<void> {
    session.isPinging = true
    const answered = new AbortController()
    const patience = this.#clock.sleep(this.#limits.pingTimeoutMs, answered.signal).then(
      () => session.http2.destroy(Object.assign(new Error('no answer to a ping'), { code: 'ETIMEDOUT' })),
      () => {},
    )
    session.http2.ping(() => answered.abort())
    await patience
    session.isPinging = false
    session.lastHeardMs = this.#clock.nowMs()
  }

  /** Takes no new streams; ends when the last one has. */
  #retire(session: GrpcSession): void {
    this.#forget(session)
    if (session.http2.destroyed) return
    this.#retired.add(session)
    if (!session.http2.closed) session.http2.close()
  }

  #forget(session: GrpcSession): void {
    const index = this.#open.indexOf(session)
    if (index >= 0) this.#open.splice(index, 1)
  }
}

function capacityOf({ http2 }: GrpcSession): number {
  return Math.min(http2.remoteSettings.maxConcurrentStreams ?? STREAMS_PER_CONNECTION, STREAMS_PER_CONNECTION)
}

function closed(http2: ClientHttp2Session): Promise<void> {
  return new Promise((resolve) => {
    if (http2.destroyed) resolve()
    else http2.once('close', () => resolve())
  })
}
