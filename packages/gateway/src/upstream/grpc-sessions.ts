import { type ClientHttp2Session, connect, type Settings } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { Clock } from '@penstock/runtime'
import type { Address, Addresses } from './addresses.ts'
import { within } from './deadline.ts'

export interface GrpcSessionLimits {
  readonly connections: number
  readonly connectTimeoutMs: number
  /** The time without activity after which a ping is sent, if there are open streams. */
  readonly pingAfterMs: number
  readonly pingTimeoutMs: number
  /** The time after which a connection without streams is closed, before the other side closes it. */
  readonly idleCloseMs: number
  /** The longest wait for the streams of a connection when the upstream is closed. */
  readonly closeTimeoutMs: number
  /** The age at which a connection is replaced, so that the name is resolved again. */
  readonly maxAgeMs: number
}

export const defaultGrpcSessionLimits: GrpcSessionLimits = {
  connections: 4,
  connectTimeoutMs: 2_000,
  pingAfterMs: 10_000,
  pingTimeoutMs: 5_000,
  idleCloseMs: 30_000,
  closeTimeoutMs: 15_000,
  maxAgeMs: 300_000,
}

export interface GrpcTarget {
  readonly url: URL
  /** Returns the trusted certificates as PEM. Called for each connection, so that a changed file is used. */
  readonly ca?: (() => string | undefined) | undefined
}

const MAINTENANCE_INTERVAL_MS = 5_000
/** The highest number of streams per connection, also before its SETTINGS have arrived. */
const STREAMS_PER_CONNECTION = 100
/** The memory for bodies that wait for the peer's flow-control window. */
const SESSION_MEMORY_MB = 256
const settings: Settings = { enablePush: false }

/** An open connection and the number of its streams. */
export interface GrpcSession {
  readonly http2: ClientHttp2Session
  streams: number
  lastActivityMs: number
  readonly openedAtMs: number
  /** The last stream id of a GOAWAY: streams with a higher id were not processed. */
  lastStreamId: number
  isPinging: boolean
}

/** Keeps a bounded number of HTTP/2 connections to one target. Opens them on demand and replaces those that end. */
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

  /**
   * Returns the open connection with the fewest streams. If none is open, returns a promise of a new one, which rejects
   * if none can be opened.
   */
  acquire(): GrpcSession | Promise<GrpcSession> {
    let best: GrpcSession | undefined
    this.#removeDestroyed()
    for (const session of this.#open) {
      // After a GOAWAY, the session is closed shortly before it emits `goaway`.
      if (session.http2.closed || session.http2.destroyed) continue
      if (best === undefined || session.streams < best.streams) best = session
    }
    if (best !== undefined && best.streams < capacityOf(best)) return best
    if (this.#connecting === undefined && this.#open.length < this.#limits.connections) {
      this.#connecting = this.#connect().finally(() => {
        this.#connecting = undefined
      })
      // If there is another connection, nothing awaits this promise.
      this.#connecting.catch(() => {})
    }
    return best ?? this.#connecting!
  }

  /** Closes all connections after their streams have ended, and cuts those that take too long. */
  async close(): Promise<void> {
    this.#stop.abort()
    await this.#connecting?.catch(() => {})
    for (const session of [...this.#open]) this.#retire(session)
    await Promise.all([...this.#retired].map((session) => this.#closed(session)))
  }

  async #connect(): Promise<GrpcSession> {
    const address = await this.#nextAddress()
    this.#stop.signal.throwIfAborted()
    const { http2, failed } = this.#openSession(address.ip)
    // Each stream of a failed connection emits its own error.
    http2.on('error', () => {})
    const opened = new Promise<void>((resolve, reject) => {
      // A TCP connection does not prove that the peer speaks HTTP/2; its first SETTINGS frame does.
      http2.once('remoteSettings', () => resolve())
      http2.once('error', reject)
      http2.once('close', () => reject(new Error('closed before it was open')))
      failed.catch(reject)
    })
    try {
      await within(this.#limits.connectTimeoutMs, this.#clock, opened)
    } catch (error) {
      this.#addresses.markFailed(address)
      http2.destroy()
      throw error
    }
    address.failures = 0
    return this.#adopt(http2)
  }

  /** Waits for fresh addresses: connections are rarely opened, so the known addresses may be very old. */
  async #nextAddress(): Promise<Address<undefined>> {
    await this.#addresses.refresh()
    return this.#addresses.pick()
  }

  /**
   * Opens a connection. `failed` rejects with the error of its socket: a session that ends before its SETTINGS have arrived, as when
   * the peer demands a certificate, emits neither `error` nor `close`.
   */
  #openSession(ip: string): { readonly http2: ClientHttp2Session; readonly failed: Promise<never> } {
    const { url } = this.#target
    const isTls = url.protocol === 'grpcs:'
    const port = Number(url.port || (isTls ? 443 : 80))
    const authority = `${isTls ? 'https' : 'http'}://${url.host}`
    const socket = isTls ? this.#openTls(ip, port) : connectTcp({ host: ip, port, noDelay: true })
    const failed = new Promise<never>((_, reject) => socket.once('error', reject))
    const http2 = connect(authority, {
      settings,
      maxSessionMemory: SESSION_MEMORY_MB,
      createConnection: () => socket,
    })
    return { http2, failed }
  }

  #openTls(ip: string, port: number): TLSSocket {
    const { url, ca } = this.#target
    const servername = url.hostname.startsWith('[') || /^[\d.]+$/.test(url.hostname) ? '' : url.hostname
    const pem = ca?.()
    return connectTls({
      host: ip,
      port,
      ALPNProtocols: ['h2'],
      ...(servername === '' ? {} : { servername }),
      ...(pem === undefined ? {} : { ca: pem }),
    })
  }

  #adopt(http2: ClientHttp2Session): GrpcSession {
    const nowMs = this.#clock.monotonicMs()
    const session: GrpcSession = {
      http2,
      streams: 0,
      lastActivityMs: nowMs,
      openedAtMs: nowMs,
      lastStreamId: Number.POSITIVE_INFINITY,
      isPinging: false,
    }
    http2.on('goaway', (_code, lastStreamId) => {
      session.lastStreamId = lastStreamId
      this.#retire(session)
    })
    http2.on('close', () => {
      this.#removeOpen(session)
      this.#retired.delete(session)
    })
    this.#open.push(session)
    if (!this.#isMaintained) void this.#maintain()
    return session
  }

  /** Checks all connections regularly, while there are any. */
  async #maintain(): Promise<void> {
    this.#isMaintained = true
    while (this.#open.length > 0 || this.#retired.size > 0) {
      await this.#clock.sleep(MAINTENANCE_INTERVAL_MS, this.#stop.signal).catch(() => {})
      if (this.#stop.signal.aborted) break
      const nowMs = this.#clock.monotonicMs()
      this.#removeDestroyed()
      for (const session of [...this.#open, ...this.#retired]) this.#maintainSession(session, nowMs)
    }
    this.#isMaintained = false
  }

  #maintainSession(session: GrpcSession, nowMs: number): void {
    const { idleCloseMs, maxAgeMs, pingAfterMs } = this.#limits
    const silentMs = nowMs - session.lastActivityMs
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
    const timeout = this.#clock.sleep(this.#limits.pingTimeoutMs, answered.signal).then(
      () => session.http2.destroy(Object.assign(new Error('no answer to a ping'), { code: 'ETIMEDOUT' })),
      () => {},
    )
    session.http2.ping(() => answered.abort())
    await timeout
    session.isPinging = false
    session.lastActivityMs = this.#clock.monotonicMs()
  }

  async #closed({ http2 }: GrpcSession): Promise<void> {
    if (http2.destroyed) return
    const closing = new Promise<void>((resolve) => http2.once('close', () => resolve()))
    await within(this.#limits.closeTimeoutMs, this.#clock, closing).catch(() => http2.destroy())
  }

  /** Stops new streams on a connection, which closes when its last stream ends. */
  #retire(session: GrpcSession): void {
    this.#removeOpen(session)
    if (session.http2.destroyed) return
    this.#retired.add(session)
    if (!session.http2.closed) session.http2.close()
  }

  /** Removes connections that have ended without an event. */
  #removeDestroyed(): void {
    for (const session of this.#open) if (session.http2.destroyed) this.#removeOpen(session)
    for (const session of this.#retired) if (session.http2.destroyed) this.#retired.delete(session)
  }

  #removeOpen(session: GrpcSession): void {
    const index = this.#open.indexOf(session)
    if (index >= 0) this.#open.splice(index, 1)
  }
}

function capacityOf({ http2 }: GrpcSession): number {
  return Math.min(http2.remoteSettings.maxConcurrentStreams ?? STREAMS_PER_CONNECTION, STREAMS_PER_CONNECTION)
}
