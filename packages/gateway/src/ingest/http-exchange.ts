import type { Encoding } from '@penstock/otlp'
import type { Log } from '@penstock/runtime'
import type { Outcome } from '../metrics/gate-metrics.ts'
import type { Admitted, Presented } from './admission.ts'
import type { Answer } from './answer.ts'
import { harmlessBytes, Inflation, type InflationVerdict } from './body-inflation.ts'
import { type BodySource, BodyStream, BrokenBody } from './body-stream.ts'
import { WholeBody } from './body-whole.ts'
import type { Cors } from './cors.ts'
import { DISCARD_BYTES } from './early-refusal.ts'
import type { ExportCall, FlatHeaders } from './export-call.ts'
import type { HeadReader, RequestHead } from './http-headers.ts'
import type { PathTable } from './http-path.ts'
import type { BodySink } from './http-request.ts'
import type { Ingest } from './ingest.ts'
import type { Refusal, RefusalKind } from './refusals.ts'
import { acceptedReply, type RefusalWriter, type Reply } from './reply.ts'
import type { IngestSignal } from './signals.ts'

/** How one request over HTTP ended; for counting and for the access log (O-1, O-13). */
export interface HttpEnding {
  readonly outcome: Outcome
  readonly status: number
  /** `undefined` of what was refused before anyone looked for a credential. */
  readonly presented: Presented | undefined
  readonly admitted: Admitted | undefined
  /** Of our own refusals. */
  readonly refusedAs: RefusalKind | undefined
  /** Of the body, as far as it had come. */
  readonly wireBytes: number
}

export interface HttpObserver {
  ended(ending: HttpEnding): void
  /** Nobody was there any more to be answered. */
  clientAborted(): void
}

/** What all requests of a front share. */
export interface ExchangeContext {
  readonly ingest: Ingest
  readonly log: Log
  readonly observer: HttpObserver
  readonly paths: PathTable
  readonly heads: HeadReader
  readonly cors: Cors
  readonly refusals: RefusalWriter
  readonly maxBodyBytes: number
  /** Our own code reads bodies, so it must know their coding (P-7). */
  readonly inspects: boolean
  readonly isReady: () => boolean
}

type Phase = 'head' | 'whole' | 'stream' | 'sent' | 'discard' | 'over'

const noHeaders: FlatHeaders = []
const noBody = new Uint8Array(0)
const allow: FlatHeaders = ['allow', 'POST, OPTIONS']
const acceptable: FlatHeaders = ['accept-encoding', 'gzip, identity']
const healthy: Reply = { status: 200, headers: ['content-type', 'text/plain', 'content-length', '3'], body: Buffer.from('ok\n') }
const allAccepted: Answer = { kind: 'accepted', partialSuccess: undefined, body: undefined }

/**
 * One request over HTTP, from its head to the end of its body or of its reply, whichever is later. A version of HTTP
 * says how bytes go out.
 *
 *     head ──► whole ──► sent ──► over
 *       │  └─► stream ───┘ │
 *       └────────┴──► discard ──► over      answered before its body had come (P-11)
 */
export abstract class Exchange implements BodySink, BodySource {
  protected readonly context: ExchangeContext
  readonly #source: string
  #phase: Phase = 'head'
  #isBodyOver = false
  #isAnswered = false
  #isSent = false
  /** The client waits for a word before it sends its body. */
  #awaitsContinue = false
  #wireBytes = 0
  #discardedBytes = 0
  #encoding: Encoding = 'json'
  #head: RequestHead | undefined
  #presented: Presented | undefined
  #call: ExportCall | undefined
  #whole: WholeBody | undefined
  #stream: BodyStream | undefined
  #inflation: Inflation | undefined
  #isReaderFull = false
  #isInflaterFull = false

  constructor(context: ExchangeContext, source: string) {
    this.context = context
    this.#source = source
  }

  /** `isClosing`: the connection must not carry another request. Neither may throw. */
  protected abstract write(status: number, headers: FlatHeaders, body: Uint8Array | undefined, isClosing: boolean): void
  /** The body of an answered request has come to its end. */
  protected abstract finish(): void
  protected abstract writeContinue(): void
  protected abstract resume(): void
  /** Nothing more is to be read or written. */
  protected abstract cut(): void

  get isPaused(): boolean {
    return this.#isReaderFull || this.#isInflaterFull
  }

  protected get isBodyOver(): boolean {
    return this.#isBodyOver
  }

  /** `mayHaveBody` false: the head says that there is none. */
  begin(method: string, requestTarget: string, rawHeaders: readonly string[], requiresHost: boolean): void {
    try {
      this.#begin(method, requestTarget, rawHeaders, requiresHost)
    } catch (error) {
      this.#failed(error)
    }
  }

  onBody(piece: Uint8Array): boolean {
    this.#wireBytes += piece.length
    try {
      switch (this.#phase) {
        case 'whole':
          if (this.#hasRoom(piece.length)) this.#whole!.add(piece)
          return true
        case 'stream':
          return !this.#hasRoom(piece.length) || this.#pass(piece)
        case 'discard':
          this.#discardedBytes += piece.length
          if (this.#discardedBytes > DISCARD_BYTES) this.cut()
          return true
        default:
          return true
      }
    } catch (error) {
      this.#failed(error)
      return true
    }
  }

  onBodyEnd(): void {
    if (this.#isBodyOver) return
    this.#isBodyOver = true
    try {
      if (this.#phase === 'whole') this.#checkWhole(this.#whole!.bytes())
      else if (this.#phase === 'discard') this.#leave()
      else if (this.#inflation !== undefined) this.#inflation.end()
      else this.#stream?.push(null)
    } catch (error) {
      this.#failed(error)
    }
  }

  onAborted(): void {
    const wasAnswered = this.#isAnswered
    if (this.#phase === 'over') return
    this.#phase = 'over'
    this.#isAnswered = true
    this.#letGo('the client broke off')
    if (wasAnswered) return
    this.context.observer.clientAborted()
    this.#call?.onClientGone?.()
  }

  onStalled(): void {
    if (this.#isAnswered) this.cut()
    else this.#refuseAndClose({ kind: 'overloaded', message: 'The body of this request has stopped coming; send it again.' })
  }

  onBroken(): void {
    if (this.#isAnswered) this.cut()
    else this.#refuseAndClose({ kind: 'bad_request', message: 'The body of this request is not framed as HTTP demands.' })
  }

  wanted(): void {
    if (!this.#isReaderFull) return
    this.#isReaderFull = false
    if (!this.#isInflaterFull && !this.#isBodyOver) this.resume()
  }

  unwanted(): void {
    this.#isInflaterFull = false
    this.#inflation?.cancel()
    this.wanted()
  }

  #begin(method: string, requestTarget: string, rawHeaders: readonly string[], requiresHost: boolean): void {
    const { paths, heads, ingest, maxBodyBytes, inspects } = this.context
    const { route, queryCredential } = paths.find(requestTarget)
    const head = heads.read(rawHeaders, queryCredential)
    this.#head = head
    this.#encoding = head.encoding ?? 'json'
    this.#awaitsContinue = head.expectsContinue
    if (requiresHost && head.hosts !== 1) {
      this.#refuseAndClose({ kind: 'bad_request', message: 'A request needs exactly one header Host.' })
      return
    }
    if (route === undefined) return this.#refuse({ kind: 'not_found', message: 'There is nothing at this path.' })
    if (method === 'OPTIONS') return this.#preflight(rawHeaders)
    if (route === 'health') return this.#health(method)
    if (method !== 'POST') return this.#refuse({ kind: 'method_not_allowed', message: 'Only POST is served here.' }, allow)
    const presented: Presented = {
      transport: 'http',
      signal: route,
      credential: head.credential,
      origin: head.origin,
      source: this.#source,
      userAgent: head.userAgent,
      declaredBytes: head.declaredBytes,
    }
    this.#presented = presented
    const admission = ingest.admit(presented)
    if (!admission.admitted) return this.#refuse(admission.refusal)
    const call = callOf(route, head, admission)
    this.#call = call
    if (head.encoding === undefined) {
      return this.#refuse({
        kind: 'unsupported_media_type',
        message: 'Send application/x-protobuf or application/json.',
      })
    }
    if (inspects && head.contentEncoding !== '' && head.contentEncoding !== 'gzip') {
      return this.#refuse({ kind: 'unsupported_media_type', message: 'Send the body as it is, or with gzip.' }, acceptable)
    }
    const { declaredBytes } = head
    if (declaredBytes === 0) return this.#answer(allAccepted)
    if (declaredBytes !== undefined && declaredBytes > maxBodyBytes) return this.#refuseSize()
    const refusal = declaredBytes === undefined ? undefined : ingest.reserve(call, declaredBytes)
    if (refusal !== undefined) return this.#refuse(refusal)
    this.#receive(call)
  }

  #receive(call: ExportCall): void {
    const { ingest, maxBodyBytes } = this.context
    if (ingest.wantsWhole(call)) {
      this.#phase = 'whole'
      this.#whole = new WholeBody(call.declaredBytes)
    } else {
      this.#phase = 'stream'
      this.#stream = new BodyStream(this)
      if ((call.declaredBytes ?? maxBodyBytes) > harmlessBytes(call.contentEncoding, maxBodyBytes)) {
        this.#inflation = this.#inflationOf(call, () => this.#stream?.push(null))
      }
      this.#isSent = true
      this.#await(ingest.sendStream(call, this.#stream))
    }
    if (this.#awaitsContinue) {
      this.#awaitsContinue = false
      this.writeContinue()
    }
  }

  /** False: there is none, and the client has been told. */
  #hasRoom(bytes: number): boolean {
    const { ingest, maxBodyBytes } = this.context
    const call = this.#call!
    if (this.#wireBytes > maxBodyBytes) {
      this.#refuseSize()
      return false
    }
    if (call.declaredBytes !== undefined) return true
    const refusal = ingest.reserve(call, bytes)
    if (refusal !== undefined) this.#refuse(refusal)
    return refusal === undefined
  }

  #pass(piece: Uint8Array): boolean {
    if (this.#inflation?.write(piece) === false) this.#isInflaterFull = true
    if (this.#stream?.push(piece) === false) this.#isReaderFull = true
    return !this.isPaused
  }

  #checkWhole(body: Uint8Array): void {
    const call = this.#call!
    if (body.length === 0) return this.#answer(allAccepted)
    if (body.length <= harmlessBytes(call.contentEncoding, this.context.maxBodyBytes)) return this.#sendWhole(call, body)
    this.#phase = 'sent'
    this.#inflation = this.#inflationOf(call, () => this.#sendWhole(call, body))
    this.#inflation.write(body)
    this.#inflation.end()
  }

  #sendWhole(call: ExportCall, body: Uint8Array): void {
    this.#phase = 'sent'
    this.#isSent = true
    this.#whole = undefined
    this.#await(this.context.ingest.sendWhole(call, body))
  }

  #await(answer: Promise<Answer>): void {
    answer.then(
      (value) => this.#answer(value),
      (error: unknown) => this.#failed(error),
    )
  }

  #inflationOf(call: ExportCall, fits: () => void): Inflation {
    return new Inflation(call.contentEncoding, this.context.maxBodyBytes, {
      drained: () => {
        this.#isInflaterFull = false
        if (!this.#isReaderFull && !this.#isBodyOver) this.resume()
      },
      judged: (verdict: InflationVerdict) => {
        if (this.#isAnswered) return
        if (verdict === 'fits') fits()
        else if (verdict === 'too_large') this.#refuseSize()
        else this.#refuse({ kind: 'bad_body', message: `The body is not valid ${call.contentEncoding}.` })
      },
    })
  }

  #preflight(rawHeaders: readonly string[]): void {
    const { cors } = this.context
    const requested = valueOf(rawHeaders, 'access-control-request-headers')
    const headers = [...allow, ...cors.preflightHeaders(this.#head?.origin, requested)]
    this.#reply({ status: 204, headers, body: undefined }, 'success', undefined)
  }

  #health(method: string): void {
    if (method !== 'GET' && method !== 'HEAD') {
      this.#refuse({ kind: 'method_not_allowed', message: 'Only GET is served here.' }, ['allow', 'GET, HEAD'])
    } else if (this.context.isReady()) {
      this.#reply(healthy, 'success', undefined)
    } else {
      this.#refuse({ kind: 'draining', message: 'The gateway is not ready.' })
    }
  }

  #answer(answer: Answer): void {
    if (this.#isAnswered) return
    const { signal, encoding, admitted } = this.#call!
    if (answer.kind === 'accepted') {
      this.#reply(acceptedReply(answer, signal, encoding, admitted.warning), 'success', undefined)
    } else {
      this.#reply(this.context.refusals.refusedReply(answer, encoding), 'failure', undefined)
    }
  }

  #refuseSize(): void {
    const { maxBodyBytes } = this.context
    this.#refuse({ kind: 'body_too_large', message: `The body is longer than ${maxBodyBytes} bytes, as sent or inflated.` })
  }

  #failed(error: unknown): void {
    this.context.log.error({ event: 'http.failed', err: error }, 'a request over HTTP failed inside the gateway')
    this.#refuse({ kind: 'internal', message: 'The gateway has failed to serve this request.' })
  }

  #refuse(refusal: Refusal, extra: FlatHeaders = noHeaders): void {
    if (this.#isAnswered) return
    const reply = this.context.refusals.refusalReply(refusal, this.#encoding)
    this.#reply(extra.length === 0 ? reply : { ...reply, headers: reply.headers.concat(extra) }, 'refused', refusal.kind)
  }

  /** The rest of the body cannot be told from a next request, or will never come. */
  #refuseAndClose(refusal: Refusal): void {
    this.#awaitsContinue = true
    this.#isBodyOver = true
    this.#refuse(refusal)
  }

  #reply({ status, headers, body }: Reply, outcome: Outcome, refusedAs: RefusalKind | undefined): void {
    if (this.#isAnswered) return
    this.#isAnswered = true
    const admitted = this.#call?.admitted
    let all = headers
    if (admitted?.expiresAt !== undefined) all = all.concat('x-ingest-token-expires', admitted.expiresAt)
    const cors = this.context.cors.replyHeaders(this.#head?.origin)
    if (cors.length > 0) all = all.concat(cors)
    this.#phase = this.#isBodyOver ? 'over' : 'discard'
    this.#letGo('answered before its end')
    const { observer } = this.context
    observer.ended({ outcome, status, presented: this.#presented, admitted, refusedAs, wireBytes: this.#wireBytes })
    this.write(status, all, body, this.#awaitsContinue)
  }

  #leave(): void {
    this.#phase = 'over'
    this.finish()
  }

  /** Gives back whatever the body held. */
  #letGo(why: string): void {
    this.#inflation?.cancel()
    this.#whole = undefined
    const stream = this.#stream
    if (stream !== undefined && !stream.readableEnded) stream.destroy(new BrokenBody(why))
    const call = this.#call
    if (call !== undefined && !this.#isSent) this.context.ingest.abandon(call)
    if (this.isPaused) {
      this.#isReaderFull = false
      this.#isInflaterFull = false
      if (!this.#isBodyOver) this.resume()
    }
  }
}

function callOf(signal: IngestSignal, head: RequestHead, admitted: Admitted): ExportCall {
  return {
    transport: 'http',
    signal,
    encoding: head.encoding ?? 'json',
    contentEncoding: head.contentEncoding,
    headers: head.forwarded,
    declaredBytes: head.declaredBytes,
    deadlineMs: undefined,
    admitted,
    onClientGone: undefined,
    reservedBytes: 0,
  }
}

function valueOf(rawHeaders: readonly string[], name: string): string | undefined {
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]!.toLowerCase() === name) return rawHeaders[at + 1]
  return undefined
}
