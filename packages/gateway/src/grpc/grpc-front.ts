import type { ServerHttp2Session } from 'node:http2'
import { GrpcCode } from '@penstock/otlp'
import type { Clock, Log, Random } from '@penstock/runtime'
import type { Ingest } from '../admission/ingest.ts'
import type { InflationRules } from '../body/inflated-size-check.ts'
import type { Peer } from '../connections/listener-connection.ts'
import type { AdmissionRequest, Admitted } from '../contract/admission.ts'
import type { FlatHeaders } from '../contract/export-call.ts'
import type { ExportObserver } from '../contract/export-ending.ts'
import type { Refusal } from '../contract/refusals.ts'
import type { RequestHead } from '../contract/request-head.ts'
import { type IngestSignal, ingestSignalNames, ingestSignals } from '../contract/signals.ts'
import { describeSuggestion, suggestPath } from '../contract/suggest-path.ts'
import type { HeadReader } from '../http/http-headers.ts'
import { tooManyConnections } from '../http/request-validator.ts'
import type { Http2Stream } from '../http2/http2-stream.ts'
import type { Http2Head } from '../http2/request-head.ts'
import type { Front } from '../ingest/listener.ts'
import { parseGrpcTimeout } from '../wire/grpc-wire.ts'
import { errorOfRefusal, GRPC_ENCODINGS, type GrpcError, sendError } from './grpc-answer.ts'
import { GrpcExport, type GrpcExportContext } from './grpc-export.ts'
import type { GrpcHealth } from './grpc-health.ts'
import { limitPings } from './grpc-pings.ts'

interface GrpcFrontSettings extends InflationRules {
  /** The longest time without data within a request. */
  readonly idleBodyTimeoutMs: number
}

interface GrpcFrontParts {
  readonly ingest: Ingest
  readonly health: GrpcHealth
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly observer: ExportObserver
  /** Shared with the HTTP front. */
  readonly headReader: HeadReader
}

const SWEEP_MS = 1_000

const signalOfMethod: Readonly<Record<string, IngestSignal>> = Object.assign(
  Object.create(null),
  Object.fromEntries(ingestSignalNames.map((signal) => [ingestSignals[signal].grpcMethod, signal])),
)

const error = (code: number, message: string): GrpcError => ({ code, message, retryDelayMs: undefined })
const notPost = error(GrpcCode.UNIMPLEMENTED, 'gRPC requests are POST requests')

const notProtobuf: Refusal = { kind: 'unsupported_media_type', message: 'Send application/grpc with protobuf.' }

const unknownEncoding: Refusal = {
  kind: 'unsupported_encoding',
  message: 'Send the message in an encoding of grpc-accept-encoding.',
}

const hostMismatch: Refusal = { kind: 'bad_request', message: 'host differs from :authority.' }

const exportOf = Symbol('export')
type ExportStream = Http2Stream & { [exportOf]: GrpcExport }

/**
 * Serves OTLP/gRPC on streams of node:http2. Decides about a call by its headers alone, before its message is read
 * (E-2). A later change of the token does not affect the call (E-3). The only methods are the unary Export and the
 * health service, so no call needs a second check.
 */
export class GrpcFront implements Pick<Front, 'onHttp2'> {
  readonly #parts: GrpcFrontParts
  readonly #settings: GrpcFrontSettings
  readonly #context: GrpcExportContext
  /** Unanswered calls, unordered. Each knows its index, so that it can be removed in constant time. */
  readonly #calls: GrpcExport[] = []
  #isSweeping = false

  constructor(parts: GrpcFrontParts, settings: GrpcFrontSettings) {
    this.#parts = parts
    this.#settings = settings
    const { ingest, observer, clock, random, log } = parts
    this.#context = {
      ingest,
      observer,
      nowMs: () => clock.nowMs(),
      monotonicMs: () => clock.monotonicMs(),
      random,
      maxBodyBytes: settings.maxBodyBytes,
      inspectInflatedSize: settings.inspectInflatedSize,
      failed: (problem) => log.error({ event: 'export.failed', err: problem }, 'an export failed inside the gateway'),
      over: (call) => this.#leave(call),
    }
  }

  onSession(session: ServerHttp2Session): void {
    limitPings(session, this.#context.monotonicMs)
  }

  onHttp2(stream: Http2Stream, head: Http2Head, _hasBody: boolean, peer: Peer): void {
    // `close` follows and handles the error.
    stream.on('error', onError)
    try {
      this.#handle(stream, head, peer)
    } catch (problem) {
      this.#context.failed(problem)
      const message = 'The gateway failed to process this request.'
      sendError(stream, errorOfRefusal({ kind: 'internal', message }, this.#context.random))
    }
  }

  #handle(stream: Http2Stream, grpcHead: Http2Head, peer: Peer): void {
    const { path, method, contentType, rawHeaders } = grpcHead
    const signal = signalOfMethod[path]
    if (signal === undefined) {
      if (!this.#parts.health.handle(stream, path)) this.#unknownMethod(stream, grpcHead, peer)
      return
    }
    if (method !== 'POST') {
      sendError(stream, notPost)
      return
    }
    grpcHead.interpreted ??= this.#interpret(rawHeaders, peer)
    const head = grpcHead.interpreted
    const { source, certificateNames, isReserved } = peer
    if (isReserved || head.hosts > 1) {
      sendError(stream, errorOfRefusal(isReserved ? tooManyConnections : hostMismatch, this.#parts.random))
      return
    }
    const admissionRequest: AdmissionRequest = {
      transport: 'grpc',
      signal,
      credential: head.credential,
      origin: head.origin,
      certificateNames,
      source,
      userAgent: head.userAgent,
      requestId: head.requestId,
      declaredBytes: head.declaredBytes,
    }
    const admission = this.#parts.ingest.admit(admissionRequest)
    if (!admission.admitted) this.#refuse(stream, admissionRequest, undefined, admission.refusal)
    else if (!isProtobuf(contentType)) this.#refuse(stream, admissionRequest, admission, notProtobuf)
    else if (!isAccepted(grpcHead.grpcEncoding)) this.#refuse(stream, admissionRequest, admission, unknownEncoding)
    else this.#export(stream, admissionRequest, admission, grpcHead, head.forwarded)
  }

  #unknownMethod(stream: Http2Stream, grpcHead: Http2Head, peer: Peer): void {
    const path = grpcHead.path.split('?', 1)[0]!
    const suggestion = suggestPath(path, 'grpcMethod')
    if (!peer.isReserved) {
      grpcHead.interpreted ??= this.#interpret(grpcHead.rawHeaders, peer)
      const { credential, userAgent, requestId, declaredBytes } = grpcHead.interpreted
      const { source } = peer
      const transport = 'grpc'
      const sent = { transport, path, suggestion, credential, source, userAgent, requestId, declaredBytes } as const
      this.#parts.ingest.recordWrongPath(sent)
    }
    sendError(stream, error(GrpcCode.UNIMPLEMENTED, `unknown method. ${describeSuggestion(suggestion)}`))
  }

  /** Reads the headers, without those of gRPC itself, and with the credential of the last request if it is the same. */
  #interpret(rawHeaders: readonly string[], peer: Peer): RequestHead {
    const head = this.#parts.headReader.read(rawHeaders, undefined)
    return { ...head, forwarded: withoutGrpcHeaders(head.forwarded), credential: peer.repeated(head.credential) }
  }

  #refuse(
    stream: Http2Stream,
    admissionRequest: AdmissionRequest,
    admitted: Admitted | undefined,
    refusal: Refusal,
  ): void {
    const error = errorOfRefusal(refusal, this.#context.random)
    const { code: status } = error
    this.#parts.observer.ended({
      outcome: 'refused',
      status,
      admissionRequest,
      admitted,
      refusedAs: refusal.kind,
      wireBytes: 0,
      sentAtMs: undefined,
    })
    sendError(stream, error)
  }

  #export(
    stream: Http2Stream,
    admissionRequest: AdmissionRequest,
    admitted: Admitted,
    { grpcTimeout, grpcEncoding }: Http2Head,
    forwarded: FlatHeaders,
  ): void {
    const timeoutMs = grpcTimeout === undefined ? undefined : parseGrpcTimeout(grpcTimeout)
    const start = {
      admissionRequest,
      admitted,
      headers: forwarded,
      contentEncoding: codingOf(grpcEncoding),
      deadlineMs: timeoutMs === undefined ? undefined : this.#parts.clock.monotonicMs() + timeoutMs,
    }
    const call = new GrpcExport(stream, start, this.#context)
    call.index = this.#calls.push(call) - 1
    if (!this.#isSweeping) void this.#sweep()
    ;(stream as ExportStream)[exportOf] = call
    stream.on('data', onData)
    stream.on('end', onEnd)
    stream.on('close', onClose)
  }

  #leave(call: GrpcExport): void {
    const last = this.#calls.pop()
    if (last === undefined || last === call) return
    last.index = call.index
    this.#calls[call.index] = last
  }

  /** Ends slow calls. A single timer serves all calls, while there are any. */
  async #sweep(): Promise<void> {
    this.#isSweeping = true
    while (this.#calls.length > 0) {
      await this.#parts.clock.sleep(SWEEP_MS)
      const nowMs = this.#parts.clock.monotonicMs()
      for (const call of [...this.#calls]) call.endIfSlow(nowMs, this.#settings.idleBodyTimeoutMs)
    }
    this.#isSweeping = false
  }
}

/** Removes the headers of gRPC itself. They differ between calls and would prevent coalescing. */
function withoutGrpcHeaders(forwarded: FlatHeaders): FlatHeaders {
  const kept: string[] = []
  for (let at = 0; at < forwarded.length; at += 2) {
    if (!forwarded[at]!.startsWith('grpc-')) kept.push(forwarded[at]!, forwarded[at + 1]!)
  }
  return kept
}

function codingOf(grpcEncoding: string | undefined): string {
  if (grpcEncoding === undefined || grpcEncoding === 'identity') return ''
  const coding = grpcEncoding.toLowerCase()
  return coding === 'identity' ? '' : coding
}

const isAccepted = (grpcEncoding: string | undefined): boolean =>
  grpcEncoding === undefined || GRPC_ENCODINGS.includes(grpcEncoding.toLowerCase())

/** Returns whether the content type means protobuf, which is the default of `application/grpc`. */
function isProtobuf(contentType: string | undefined): boolean {
  if (contentType === 'application/grpc') return true
  return /^application\/grpc(\+proto)?\s*(;|$)/i.test(contentType ?? '')
}

function onError(): void {}

function onData(this: Http2Stream, part: Uint8Array): void {
  const call = (this as ExportStream)[exportOf]
  try {
    call.data(part)
  } catch (error) {
    call.failed(error)
  }
}

function onEnd(this: Http2Stream): void {
  // Node also emits `end` for a stream that was reset; `close` follows.
  if (this.aborted || this.destroyed) return
  const call = (this as ExportStream)[exportOf]
  try {
    call.end()
  } catch (error) {
    call.failed(error)
  }
}

function onClose(this: Http2Stream): void {
  ;(this as ExportStream)[exportOf].closed()
}
