import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  constants,
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TLSSocket, type Server as TlsServer } from 'node:tls'
import type { Clock, Log, Random } from '@penstock/runtime'
import { certificateNames } from '../connections/client-certificate.ts'
import {
  Connection,
  type ConnectionTimes,
  connectionOfSession,
  type Peer,
  unknownPeer,
} from '../connections/listener-connection.ts'
import { type HttpVersion, readVersion } from '../connections/listener-protocol.ts'
import { ListenerSlots, type Slot, type SlotLimits } from '../connections/listener-slots.ts'
import { RejectedConnectionScheduler } from '../connections/rejected-connection-scheduler.ts'
import { readTlsFiles } from '../connections/tls-context.ts'
import { UnsentStreams } from '../connections/unsent-streams.ts'
import type { GatewayConfig, ListenAddress, OtlpListener, TlsFiles } from '../contract/gateway-config.ts'
import { FastConnection, type FastRequests } from '../http1/fast-connection.ts'
import { http1Server } from '../http1/listener-http1.ts'
import type { Http2Stream } from '../http2/http2-stream.ts'
import { UnsentBudget } from '../http2/limits/unsent-budget.ts'
import { type Http2Head, readHttp2Head } from '../http2/request-head.ts'
import { ServerSession } from '../http2/server-session.ts'
import type { MetricRegistry } from '../metrics/registry.ts'
import { passToHttp1 } from '../node-internals/http1-handover.ts'
import { SharedReadBuffer } from '../node-internals/shared-read-buffer.ts'

/** Handles requests over HTTP/1 and HTTP/2. Must answer every request and must not throw. */
export interface Front {
  onHttp1(request: IncomingMessage, response: ServerResponse): void
  /** Returns the server of the requests that the gateway reads from a connection without node:http. */
  fastRequests(connection: Connection): FastRequests
  /** @param hasBody whether the request has not ended with its head */
  onHttp2(stream: Http2Stream, head: Http2Head, hasBody: boolean, peer: Peer): void
}

/** The fronts of a listener. HTTP/2 streams of type `application/grpc…` go to `grpc`, all else to `http` (P-1). */
interface Fronts {
  readonly http: Front
  readonly grpc: Pick<Front, 'onHttp2'> & {
    /** Called for each connection of node:http2 before its first stream, for limits per connection (P-26). */
    onSession?(session: ServerHttp2Session): void
  }
}

export interface ListenerSettings
  extends ConnectionTimes,
    SlotLimits,
    Pick<GatewayConfig, 'fastPath' | 'http1FastPath' | 'http2Reader' | 'sharedReadBuffer'> {
  /** The age at which a connection is closed, ± 10 % (X-8). */
  readonly maxConnectionAgeMs: number
  readonly maxStreamsPerConnection: number
}

export const defaultListenerSettings: ListenerSettings = {
  headerTimeoutMs: 10_000,
  idleBodyTimeoutMs: 15_000,
  idleConnectionTimeoutMs: 75_000,
  maxConnectionAgeMs: 600_000,
  maxConnections: 10_000,
  maxConnectionsPerAddress: 2_500,
  maxStreamsPerConnection: 100,
  fastPath: true,
  http1FastPath: true,
  http2Reader: true,
  sharedReadBuffer: true,
}

interface ListenerDeps {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly metrics: MetricRegistry
}

export interface Listener {
  /** The bound address, with the actual port. */
  readonly address: ListenAddress
  /**
   * Stops accepting connections and asks clients to close theirs (`Connection: close`, GOAWAY). Resolves when all
   * connections have ended; cuts the remaining ones after `timeoutMs`.
   */
  drain(timeoutMs: number): Promise<void>
  /** Stops accepting connections and cuts the existing ones. */
  close(): Promise<void>
}

const peerOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`

const SWEEP_MS = 1_000
const JITTER = 0.1

/** Opens a listener. Rejects if the address cannot be bound, or if certificate and key cannot be used. */
export async function openListener(
  { address, tls }: OtlpListener,
  fronts: Fronts,
  settings: ListenerSettings,
  deps: ListenerDeps,
): Promise<Listener> {
  const listener = new OpenListener(fronts, settings, deps)
  await listener.open(address, tls)
  return listener
}

/**
 * Serves both versions of HTTP and both OTLP protocols on one port. Detects the HTTP version by ALPN with TLS, and by
 * the first bytes otherwise. Checks all connections for timeouts once a second.
 */
class OpenListener implements Listener {
  readonly #fronts: Fronts
  readonly #settings: ListenerSettings
  readonly #deps: ListenerDeps
  readonly #connections = new Map<Socket, Connection>()
  readonly #http1: ReturnType<typeof http1Server>
  readonly #http2: ReturnType<typeof createHttp2Server>
  /** Enforces the connection limits. */
  readonly #slots: ListenerSlots
  /** Sockets in the TLS handshake, by address and port of the peer. */
  readonly #handshakes = new Map<string, Slot>()
  readonly #scheduler = new RejectedConnectionScheduler()
  readonly #unsent = new UnsentBudget()
  readonly #nodeStreams = new UnsentStreams()
  readonly #stop = new AbortController()
  #server: Server | TlsServer | undefined
  #address: ListenAddress = { host: '', port: 0 }
  #closed: Promise<void> = Promise.resolve()
  #tlsDigest = ''
  #isTlsFailing = false
  /** The session that the HTTP/2 server has just created for a socket. */
  #newSession: ServerHttp2Session | undefined

  constructor(fronts: Fronts, settings: ListenerSettings, deps: ListenerDeps) {
    this.#fronts = fronts
    this.#settings = settings
    this.#deps = deps
    this.#slots = new ListenerSlots(settings, deps.clock, deps.log, () => this.#address)
    this.#http1 = http1Server((request, response) => fronts.http.onHttp1(request, response), deps.random)
    this.#http2 = createHttp2Server({ settings: { maxConcurrentStreams: settings.maxStreamsPerConnection } })
    this.#http2.on('session', (session) => {
      this.#newSession = session
      fronts.grpc.onSession?.(session)
    })
    this.#http2.on('stream', (...args: unknown[]) => {
      // Node's types do not declare the last argument.
      const [stream, , flags, rawHeaders] = args as [ServerHttp2Stream, IncomingHttpHeaders, number, readonly string[]]
      // A stream reset by its client emits an error, which without a listener would end the process.
      stream.on('error', () => {})
      this.#nodeStreams.add(stream)
      const connection = stream.session && connectionOfSession(stream.session)
      const head = readHttp2Head(rawHeaders)
      connection?.streamBegan()
      stream.once('close', () => connection?.streamEnded())
      if (head === undefined) {
        stream.close(constants.NGHTTP2_PROTOCOL_ERROR)
        return
      }
      const hasBody = (flags & constants.NGHTTP2_FLAG_END_STREAM) === 0
      this.#beginStream(stream, head, hasBody, connection ?? unknownPeer)
    })
    this.#http2.on('sessionError', () => {})
  }

  get address(): ListenAddress {
    return this.#address
  }

  async open(address: ListenAddress, tls: TlsFiles | undefined): Promise<void> {
    const server = tls === undefined ? this.#clearServer() : await this.#tlsServer(tls)
    this.#server = server
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(address.port, address.host, () => {
        server.off('error', reject)
        resolve()
      })
    })
    const bound = server.address() as AddressInfo
    this.#address = { host: address.host, port: bound.port }
    this.#closed = new Promise((resolve) => server.once('close', resolve))
    server.on('error', (error) => {
      this.#deps.log.error({ event: 'listener.failed', err: error }, 'the listener could not accept a connection')
    })
    void this.#watch(tls)
  }

  async drain(timeoutMs: number): Promise<void> {
    const timeout = new AbortController()
    this.#server?.close()
    for (const connection of this.#connections.values()) connection.drain()
    const timedOut = this.#deps.clock.sleep(timeoutMs, timeout.signal).catch(() => {})
    await Promise.race([this.#closed, timedOut])
    timeout.abort()
    await this.close()
  }

  async close(): Promise<void> {
    this.#stop.abort()
    this.#server?.close()
    for (const socket of this.#connections.keys()) socket.destroy()
    for (const { socket } of this.#handshakes.values()) socket.destroy()
    await this.#closed
  }

  #clearServer(): Server {
    const sharesBuffer = this.#uses('sharedReadBuffer')
    const reads = new SharedReadBuffer()
    return createServer({ allowHalfOpen: true, noDelay: true, pauseOnConnect: sharesBuffer }, (accepted) => {
      const socket = sharesBuffer ? reads.adopt(accepted) : accepted
      const slot = this.#slots.admit(socket)
      if (slot !== undefined) this.#accept(socket, slot, undefined, undefined)
    })
  }

  async #tlsServer(tls: TlsFiles): Promise<TlsServer> {
    const { options, digest } = (await readTlsFiles(tls, undefined))!
    this.#tlsDigest = digest
    const demandsCertificate = tls.clientCaFile !== undefined
    const server = createTlsServer({
      ...options,
      requestCert: demandsCertificate,
      rejectUnauthorized: demandsCertificate,
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: this.#settings.headerTimeoutMs,
      allowHalfOpen: true,
      noDelay: true,
    })
    server.on('secureConnection', (socket) => {
      const peer = peerOf(socket)
      const slot = this.#handshakes.get(peer)
      this.#handshakes.delete(peer)
      if (slot === undefined) socket.destroy()
      else this.#accept(socket, slot, alpnVersion(socket), demandsCertificate ? namesOf(socket) : undefined)
    })
    // With `allowHalfOpen` Node does not close the socket. Not logged, because port scans are common.
    server.on('tlsClientError', (_error, socket) => socket.destroy())
    server.on('connection', (socket: Socket) => {
      const slot = this.#slots.admit(socket)
      if (slot === undefined) return
      const peer = peerOf(socket)
      this.#handshakes.set(peer, slot)
      socket.once('close', () => this.#handshakes.delete(peer))
    })
    return server
  }

  #accept(socket: Socket, slot: Slot, version: HttpVersion | undefined, names: readonly string[] | undefined): void {
    const { clock, random } = this.#deps
    const ageMs = this.#settings.maxConnectionAgeMs * (1 - JITTER + 2 * JITTER * random())
    const connection = new Connection(socket, clock, ageMs, names, this.#scheduler, this.#slots.placeOf(slot))
    slot.socket = socket
    slot.connection = connection
    this.#connections.set(socket, connection)
    socket.on('error', () => {})
    socket.on('close', () => {
      this.#connections.delete(socket)
      connection.closed()
    })
    if (this.#server?.listening === false) connection.drain()
    if (version !== undefined) this.#handOver(socket, connection, version)
    else readVersion(socket, (detected, beginning) => this.#handOver(socket, connection, detected, beginning))
  }

  /** @param beginning what has been read from the socket */
  #handOver(socket: Socket, connection: Connection, version: HttpVersion, beginning?: Buffer): void {
    const { metrics } = this.#deps
    if (version === 1) {
      connection.opened(metrics.cell('otelcol_receiver_active_connections', { transport: 'http' }))
      if (!this.#uses('http1FastPath')) {
        passToHttp1(this.#http1, socket, beginning)
        return
      }
      this.#readFast(socket, connection)
      if (beginning !== undefined) socket.emit('data', beginning)
      return
    }
    // Over HTTP/1 a client may close its side and wait for the reply. Over HTTP/2 streams have their own end, and with
    // a half-open socket the session would not notice that the client has gone.
    socket.allowHalfOpen = false
    // HTTP/2 connections are counted as gRPC: few other clients use it, and the protocol is not known before the first
    // stream.
    const cell = metrics.cell('otelcol_receiver_active_connections', { transport: 'grpc' })
    if (this.#uses('http2Reader')) {
      connection.opened(cell, this.#readSession(socket, connection))
      if (beginning !== undefined) socket.emit('data', beginning)
      return
    }
    if (beginning !== undefined) {
      socket.pause()
      socket.unshift(beginning)
    }
    this.#newSession = undefined
    this.#http2.emit('connection', socket)
    connection.opened(cell, this.#newSession)
    this.#newSession = undefined
  }

  /** Reads an HTTP/2 connection without node:http2. */
  #readSession(socket: Socket, connection: Connection): ServerSession {
    const { clock, log } = this.#deps
    return new ServerSession(
      socket,
      connection,
      {
        streamBegan: (stream, head, hasBody) => {
          connection.streamBegan()
          this.#beginStream(stream, head, hasBody, connection)
        },
        streamEnded: () => connection.streamEnded(),
        failed: (error) =>
          log.error({ event: 'http2.failed', err: error }, 'an HTTP/2 connection failed inside the gateway'),
      },
      { maxStreams: this.#settings.maxStreamsPerConnection, clock, unsent: this.#unsent },
    )
  }

  #uses(part: 'http1FastPath' | 'http2Reader' | 'sharedReadBuffer'): boolean {
    return this.#settings.fastPath && this.#settings[part]
  }

  #beginStream(stream: Http2Stream, head: Http2Head, hasBody: boolean, peer: Peer): void {
    const { grpc, http } = this.#fronts
    const front = head.contentType?.startsWith('application/grpc') ? grpc : http
    front.onHttp2(stream, head, hasBody, peer)
  }

  /** Reads the connection without node:http until bytes arrive that node:http must read. */
  #readFast(socket: Socket, connection: Connection): void {
    new FastConnection(socket, connection, this.#fronts.http.fastRequests(connection), (unread) =>
      passToHttp1(this.#http1, socket, unread),
    )
  }

  async #watch(tls: TlsFiles | undefined): Promise<void> {
    const { clock } = this.#deps
    const { signal } = this.#stop
    while (!signal.aborted) {
      await clock.sleep(SWEEP_MS, signal).catch(() => {})
      const nowMs = clock.monotonicMs()
      for (const connection of this.#connections.values()) connection.sweep(nowMs, this.#settings)
      this.#nodeStreams.sweep(nowMs)
      if (tls !== undefined && !signal.aborted) await this.#refreshTls(tls)
    }
  }

  /** Loads changed TLS files. Compares their content, because a rename or a changed link may leave no other trace. */
  async #refreshTls(tls: TlsFiles): Promise<void> {
    const { log } = this.#deps
    try {
      const changed = await readTlsFiles(tls, this.#tlsDigest)
      this.#isTlsFailing = false
      if (changed === undefined) return
      this.#tlsDigest = changed.digest
      ;(this.#server as TlsServer).setSecureContext(changed.options)
      log.info({ event: 'tls.reloaded' }, 'the changed certificate and key are in use')
    } catch (error) {
      if (!this.#isTlsFailing)
        log.error(
          { event: 'tls.unreadable', err: error },
          'the TLS files cannot be used; the previous certificate stays in use',
        )
      this.#isTlsFailing = true
    }
  }
}

const namesOf = (socket: TLSSocket): readonly string[] => certificateNames(socket.getPeerCertificate().subjectaltname)

function alpnVersion({ alpnProtocol }: TLSSocket): HttpVersion | undefined {
  if (alpnProtocol === 'h2') return 2
  return alpnProtocol === 'http/1.1' ? 1 : undefined
}
