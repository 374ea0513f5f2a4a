import type { OutgoingHttpHeaders } from 'node:http2'
import { GrpcCode, RequestEncoder } from '@penstock/otlp'
import type { Clock, Random } from '@penstock/runtime'
import type { Answer, Refused, RefusedCause } from '../contract/answer.ts'
import type { FlatHeaders } from '../contract/export-call.ts'
import { clientGone, gatewayRefusal } from '../contract/gateway-answers.ts'
import type { RefusalKind } from '../contract/refusals.ts'
import { ingestSignals } from '../contract/signals.ts'
import type { Upstream, UpstreamAlarm, UpstreamRequest } from '../contract/upstream.ts'
import { formatGrpcTimeout } from '../wire/grpc-wire.ts'
import { Addresses, type Resolve, systemResolve } from './addresses.ts'
import { within } from './deadline.ts'
import { bufferMessage, type MessageBody } from './grpc-body.ts'
import { GrpcExchange, type GrpcExchangeEnd, type GrpcMessage, type GrpcReply } from './grpc-exchange.ts'
import { answerOf } from './grpc-reply.ts'
import {
  defaultGrpcSessionLimits,
  type GrpcSession,
  type GrpcSessionLimits,
  GrpcSessions,
  type GrpcTarget,
} from './grpc-sessions.ts'
import type { CredentialOwner } from './status-codes.ts'

export interface GrpcUpstreamSettings {
  /** `grpc://` or `grpcs://`, host and port. */
  readonly target: GrpcTarget
  /** Returns the value of `authorization` for each request; `undefined` to send none. */
  readonly credential: () => string | undefined
  /**
   * `client` if clients' credentials are passed on; answers about the credential are then passed to the client (X-9).
   */
  readonly credentialOwner?: CredentialOwner
  /** Default 4 MiB (C-6). */
  readonly bodyLimitBytes?: number
  /** The highest size of a body that must be buffered before it is sent. Default 64 MiB. */
  readonly maxBufferedBytes?: number
  readonly session?: Partial<GrpcSessionLimits>
  readonly resolve?: Resolve
}

interface GrpcUpstreamDeps {
  readonly clock: Clock
  readonly random: Random
  readonly onAlarm: (alarm: UpstreamAlarm) => void
}

/** The largest body that may be sent a second time. */
const REPLAYABLE_BYTES = 1024 * 1024
/** The highest number of unanswered requests. Further ones are refused before anything is sent. */
const MAX_WAITING = 10_000
const SWEEP_MS = 50

/** Headers that HTTP/2 forbids, and those that the gateway sets itself. `grpc-*` headers are not forwarded either. */
const notForwarded = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'te',
  'host',
  'expect',
  'accept',
  'accept-encoding',
  'content-type',
  'content-encoding',
  'content-length',
])

type Attempt =
  | GrpcExchangeEnd
  | { readonly kind: 'unreachable'; readonly code: string }
  | { readonly kind: 'invalid_headers' }

/**
 * Sends telemetry over OTLP/gRPC with node:http2. `status-codes.ts` maps upstream's status codes. A
 * request is sent again once, and only if upstream has certainly not processed it.
 */
export class GrpcUpstream implements Upstream {
  readonly name: string
  readonly bodyLimitBytes: number
  readonly #settings: GrpcUpstreamSettings
  readonly #deps: GrpcUpstreamDeps
  readonly #sessions: GrpcSessions
  readonly #encoder = new RequestEncoder('protobuf')
  readonly #owner: CredentialOwner
  readonly #maxBufferedBytes: number
  readonly #scheme: string
  readonly #authority: string
  /** Unordered. Each exchange knows its index, so that it can be removed in constant time. */
  readonly #inFlight: GrpcExchange[] = []
  #isSweeping = false
  #waiting = 0

  constructor(settings: GrpcUpstreamSettings, deps: GrpcUpstreamDeps) {
    const { url } = settings.target
    this.#settings = settings
    this.#deps = deps
    this.name = `${url.protocol}//${url.host}`
    this.bodyLimitBytes = settings.bodyLimitBytes ?? 4 * 1024 * 1024
    this.#maxBufferedBytes = settings.maxBufferedBytes ?? 64 * 1024 * 1024
    this.#owner = settings.credentialOwner ?? 'gateway'
    this.#scheme = url.protocol === 'grpcs:' ? 'https' : 'http'
    this.#authority = url.host
    const addresses = new Addresses<undefined>({
      hostname: url.hostname,
      clock: deps.clock,
      resolve: settings.resolve ?? systemResolve,
      open: () => undefined,
      close: () => {},
    })
    const limits = { ...defaultGrpcSessionLimits, ...settings.session }
    this.#sessions = new GrpcSessions(settings.target, addresses, deps.clock, limits)
  }

  async send(request: UpstreamRequest): Promise<Answer> {
    if (this.#waiting >= MAX_WAITING)
      return this.#refused('overloaded', 'unreachable', 'too many requests wait for upstream')
    this.#waiting += 1
    // The body may fail before anything else listens to its errors.
    if (!(request.body instanceof Uint8Array)) request.body.on('error', () => {})
    try {
      const message = await this.#messageOf(request)
      if (message === undefined) return clientGone
      return 'kind' in message ? message : await this.#sendMessage(request, message)
    } finally {
      this.#waiting -= 1
    }
  }

  close(): Promise<void> {
    return this.#sessions.close()
  }

  #messageOf(request: UpstreamRequest): MessageBody | Promise<MessageBody | Refused | undefined> {
    const { encoding, contentEncoding, body, contentLength } = request
    const bytes = body instanceof Uint8Array ? body.length : contentLength
    if (encoding === 'protobuf' && bytes !== undefined) return { body, bytes, contentEncoding }
    return bufferMessage(request, { maxBufferedBytes: this.#maxBufferedBytes }, this.#encoder)
  }

  async #sendMessage(request: UpstreamRequest, { body, bytes, contentEncoding }: MessageBody): Promise<Answer> {
    const isCompressed = contentEncoding !== '' && contentEncoding !== 'identity'
    const message: GrpcMessage = {
      headers: this.#headers(request, isCompressed ? contentEncoding : ''),
      isCompressed,
      body,
      bytes,
    }
    const abortState: AbortState = { isRequested: false, exchange: undefined }
    request.onAbortable?.(() => {
      abortState.isRequested = true
      abortState.exchange?.abort('abandoned')
    })
    let end = await this.#attempt(message, request.deadlineMs, abortState)
    const isUnprocessed = end.kind === 'unprocessed' || end.kind === 'unreachable'
    if (isUnprocessed && body instanceof Uint8Array && bytes <= REPLAYABLE_BYTES && !abortState.isRequested) {
      end = await this.#attempt(message, request.deadlineMs, abortState)
    }
    // The client has gone, so the reason does not matter.
    if (abortState.isRequested && end.kind !== 'reply') return clientGone
    return this.#answer(end, request)
  }

  async #attempt(message: GrpcMessage, deadlineMs: number, abortState: AbortState): Promise<Attempt> {
    const { clock } = this.#deps
    let session: GrpcSession | Promise<GrpcSession>
    try {
      session = this.#sessions.acquire()
      if (session instanceof Promise) session = await within(deadlineMs - clock.monotonicMs(), clock, session)
    } catch (error) {
      return { kind: 'unreachable', code: codeOf(error) }
    }
    if (abortState.isRequested) return { kind: 'abandoned' }
    const leftMs = deadlineMs - clock.monotonicMs()
    if (leftMs <= 0) return { kind: 'unreachable', code: 'deadline' }
    message.headers['grpc-timeout'] = formatGrpcTimeout(leftMs)
    return new Promise((resolve) => {
      try {
        const exchange = new GrpcExchange(session, message, deadlineMs, this.#nowMs, (end, over) => {
          this.#leave(over)
          resolve(end)
        })
        abortState.exchange = exchange
        this.#enter(exchange)
      } catch (error) {
        resolve(sessionEnded.has(codeOf(error)) ? { kind: 'unprocessed' } : { kind: 'invalid_headers' })
      }
    })
  }

  readonly #nowMs = () => this.#deps.clock.monotonicMs()

  #headers(request: UpstreamRequest, grpcEncoding: string): OutgoingHttpHeaders {
    const headers: OutgoingHttpHeaders = {
      ':method': 'POST',
      ':scheme': this.#scheme,
      ':authority': this.#authority,
      ':path': ingestSignals[request.signal].grpcMethod,
      'content-type': 'application/grpc',
      te: 'trailers',
      'grpc-accept-encoding': 'identity',
    }
    if (grpcEncoding !== '') headers['grpc-encoding'] = grpcEncoding
    addForwarded(headers, request.headers)
    const credential = this.#settings.credential()
    if (credential !== undefined) headers.authorization = credential
    return headers
  }

  #enter(exchange: GrpcExchange): void {
    exchange.index = this.#inFlight.push(exchange) - 1
    if (!this.#isSweeping) void this.#sweep()
  }

  #leave(exchange: GrpcExchange): void {
    const last = this.#inFlight.pop()
    if (last === undefined || last === exchange) return
    last.index = exchange.index
    this.#inFlight[exchange.index] = last
  }

  /** Aborts exchanges that have passed their deadline. A single timer serves all of them, while there are any. */
  async #sweep(): Promise<void> {
    this.#isSweeping = true
    while (this.#inFlight.length > 0) {
      await this.#deps.clock.sleep(SWEEP_MS)
      const nowMs = this.#deps.clock.monotonicMs()
      for (const exchange of [...this.#inFlight]) if (exchange.deadlineMs <= nowMs) exchange.abort('late')
    }
    this.#isSweeping = false
  }

  async #answer(end: Attempt, request: UpstreamRequest): Promise<Answer> {
    switch (end.kind) {
      case 'reply': {
        const answer = await answerOf(end, { signal: request.signal, owner: this.#owner, random: this.#deps.random })
        if (answer.kind === 'refused') this.#raiseAlarm(answer, end)
        return answer
      }
      case 'unprocessed':
        return this.#refused('upstream_unreachable', 'unreachable', 'upstream takes no requests at the moment')
      case 'unreachable':
        return this.#refused('upstream_unreachable', 'unreachable', `upstream cannot be reached (${end.code})`)
      case 'invalid_headers':
        return this.#refused('bad_request', 'rejected', 'a header of the request cannot be sent over HTTP/2')
      case 'late':
        return this.#refused('upstream_slow', 'unknown', 'upstream has not answered in time')
      case 'abandoned':
        return clientGone
      case 'broken_off':
        return this.#refused('upstream_broke', 'unknown', 'upstream broke off before its answer')
    }
  }

  #refused(kind: RefusalKind, cause: RefusedCause, message: string): Refused {
    return gatewayRefusal({ kind, message }, cause, this.#deps.random)
  }

  #raiseAlarm({ cause }: Refused, { httpStatus, trailers }: GrpcReply): void {
    const code = trailers['grpc-status']
    const detail = code === undefined ? `HTTP ${httpStatus}` : `gRPC code ${code}`
    if (cause === 'credential') {
      if (this.#owner === 'gateway') this.#deps.onAlarm({ kind: 'credential', upstream: this.name, detail })
    } else if (code === String(GrpcCode.UNIMPLEMENTED)) {
      this.#deps.onAlarm({ kind: 'misplaced', upstream: this.name, detail })
    }
  }
}

interface AbortState {
  isRequested: boolean
  exchange: GrpcExchange | undefined
}

/** Error codes of Node for a session that ended after it was chosen and before the request was made. */
const sessionEnded = new Set(['ERR_HTTP2_GOAWAY_SESSION', 'ERR_HTTP2_INVALID_SESSION', 'ERR_HTTP2_OUT_OF_STREAMS'])

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : 'closed'
}

/** Adds the client's headers, and joins repeated ones, because Node rejects most repeated headers. */
function addForwarded(headers: OutgoingHttpHeaders, forwarded: FlatHeaders): void {
  for (let i = 0; i + 1 < forwarded.length; i += 2) {
    const name = forwarded[i]!
    if (notForwarded.has(name) || name.startsWith('grpc-') || name.startsWith(':')) continue
    const known = headers[name]
    headers[name] = known === undefined ? forwarded[i + 1]! : `${known},${forwarded[i + 1]}`
  }
}
