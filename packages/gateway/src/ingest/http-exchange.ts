import type { Encoding } from '@penstock/otlp'
import type { Log } from '@penstock/runtime'
import type { Outcome } from '../metrics/gate-metrics.ts'
import type { Admitted, Presented } from './admission.ts'
import type { Answer } from './answer.ts'
import { harmlessBytes, Inflation } from './body-inflation.ts'
import { type BodySource, BodyStream, BrokenBody } from './body-stream.ts'
import { WholeBody } from './body-whole.ts'
import type { Cors } from './cors.ts'
import { DISCARD_BYTES } from './early-refusal.ts'
import type { ExportCall, FlatHeaders } from './export-call.ts'
import type { HeadReader } from './http-headers.ts'
import { type Framing, type HeadJudge, tooLarge } from './http-judge.ts'
import type { PathTable } from './http-path.ts'
import type { BodySink } from './http-request.ts'
import type { Ingest } from './ingest.ts'
import type { Refusal, RefusalKind } from './refusals.ts'
import { acceptedReply, type RefusalWriter, type Reply } from './reply.ts'

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

/** Told once of each request; of health probes and preflights not at all. */
export interface HttpObserver {
  ended(ending: HttpEnding): void
  /** Nobody was there any more to be answered. */
  clientAborted(): void
}

/** What all requests of a front share. */
export interface ExchangeContext {
  readonly ingest: Ingest
  readonly log: Log
  readonly paths: PathTable
  readonly heads: HeadReader
  readonly judge: HeadJudge
  readonly cors: Cors
  readonly refusals: RefusalWriter
  readonly maxBodyBytes: number
  readonly observer: HttpObserver
}

type Phase = 'head' | 'whole' | 'stream' | 'sent' | 'discard' | 'over'

const noHeaders: FlatHeaders = []
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
  readonly #context: ExchangeContext
  readonly #source: string
  #phase: Phase = 'head'
  #isBodyOver = false
  #isAnswered = false
  /** The gate has the call, and gives back what it holds. */
  #isSent = false
  /** The client may not send its body, so what follows the head cannot be told from a next request. */
  #awaitsContinue = false
  #wireBytes = 0
  #discardedBytes = 0
  #encoding: Encoding = 'json'
  #origin: string | undefined
  #presented: Presented | undefined
  #call: ExportCall | undefined
  #whole: WholeBody | undefined
  #stream: BodyStream | undefined
  #inflation: Inflation | undefined
  #isReaderFull = false
  #isInflaterFull = false

  constructor(context: ExchangeContext, source: string) {
    this.#context = context
    this.#source = source
  }

  /** `isClosing`: the connection must not carry another request. */
  protected abstract write(status: number, headers: FlatHeaders, body: Uint8Array | undefined, isClosing: boolean): void
  /** The body of a request that was answered early has come to its end. */
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

  begin(method: string, requestTarget: string, rawHeaders: readonly string[], framing: Framing): void {
    try {
      this.#begin(method, requestTarget, rawHeaders, framing)
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
      if (this.#phase === 'whole') {
        this.#checkWhole(this.#call!, this.#whole!.bytes())
      } else if (this.#phase === 'discard') {
        this.#phase = 'over'
        this.finish()
      } else if (this.#phase === 'stream') {
        this.#endStream()
      }
    } catch (error) {
      this.#failed(error)
    }
  }

  onAborted(): void {
    if (this.#phase === 'over') return
    const wasAnswered = this.#isAnswered
    this.#phase = 'over'
    this.#isAnswered = true
    this.#letGo('the client broke off')
    if (wasAnswered) return
    this.#context.observer.clientAborted()
    this.#call?.onClientGone?.()
  }

  onStalled(): void {
    this.#endBroken({ kind: 'overloaded', message: 'The body of this request has stopped coming; send it again.' })
  }

  onBroken(): void {
    this.#endBroken({ kind: 'bad_request', message: 'The body of this request is not framed as HTTP demands.' })
  }

  wanted(): void {
    if (!this.#isReaderFull) return
    this.#isReaderFull = false
    if (!this.#isInflaterFull && !this.#isBodyOver) this.resume()
  }

  unwanted(): void {
    this.#inflation?.cancel()
    this.#readOn()
  }

  #begin(method: string, requestTarget: string, rawHeaders: readonly string[], framing: Framing): void {
    const { paths, heads, judge } = this.#context
    const target = paths.find(requestTarget)
    const head = heads.read(rawHeaders, target.queryCredential)
    this.#origin = head.origin
    this.#encoding = head.encoding ?? 'json'
    this.#awaitsContinue = head.expectsContinue
    const verdict = judge.judge(head, target, { method, rawHeaders, source: this.#source }, framing)
    switch (verdict.kind) {
      case 'receive':
        this.#presented = verdict.presented
        this.#call = verdict.call
        if (verdict.isEmpty) this.#answer(allAccepted)
        else this.#receive(verdict.call)
        break
      case 'reply':
        this.#reply(verdict.reply)
        break
      case 'refuse':
        this.#presented = verdict.presented
        this.#call = verdict.call
        if (verdict.isBroken) this.#endBroken(verdict.refusal)
        else this.#refuse(verdict.refusal, verdict.extra)
    }
  }

  #receive(call: ExportCall): void {
    if (this.#context.ingest.wantsWhole(call)) {
      this.#phase = 'whole'
      this.#whole = new WholeBody(call.declaredBytes)
    } else {
      this.#phase = 'stream'
    }
    if (!this.#awaitsContinue) return
    this.#awaitsContinue = false
    this.writeContinue()
  }

  /** False: there is none, and the client has been told. */
  #hasRoom(bytes: number): boolean {
    const { ingest, maxBodyBytes } = this.#context
    const call = this.#call!
    const refusal =
      this.#wireBytes > maxBodyBytes
        ? tooLarge(maxBodyBytes)
        : call.declaredBytes === undefined
          ? ingest.reserve(call, bytes)
          : undefined
    if (refusal !== undefined) this.#refuse(refusal)
    return refusal === undefined
  }

  /** Nothing is asked of upstream before there is something to send. */
  #openStream(call: ExportCall): BodyStream {
    const { ingest, maxBodyBytes } = this.#context
    const stream = new BodyStream(this)
    this.#stream = stream
    if ((call.declaredBytes ?? maxBodyBytes) > harmlessBytes(call.contentEncoding, maxBodyBytes)) {
      this.#inflation = this.#inflationOf(call, () => stream.push(null))
    }
    this.#await(ingest.sendStream(call, stream))
    return stream
  }

  #pass(piece: Uint8Array): boolean {
    const stream = this.#stream ?? this.#openStream(this.#call!)
    // Whoever read it has seen enough, and will say so.
    if (stream.destroyed) return true
    if (this.#inflation?.write(piece) === false) this.#isInflaterFull = true
    if (!stream.push(piece)) this.#isReaderFull = true
    return !this.isPaused
  }

  #endStream(): void {
    if (this.#stream === undefined) this.#answer(allAccepted)
    else if (this.#inflation === undefined) this.#stream.push(null)
    else this.#inflation.end()
  }

  #checkWhole(call: ExportCall, body: Uint8Array): void {
    if (body.length === 0) {
      this.#answer(allAccepted)
    } else if (body.length <= harmlessBytes(call.contentEncoding, this.#context.maxBodyBytes)) {
      this.#sendWhole(call, body)
    } else {
      this.#phase = 'sent'
      this.#inflation = this.#inflationOf(call, () => this.#sendWhole(call, body))
      this.#inflation.write(body)
      this.#inflation.end()
    }
  }

  #sendWhole(call: ExportCall, body: Uint8Array): void {
    this.#phase = 'sent'
    this.#whole = undefined
    this.#await(this.#context.ingest.sendWhole(call, body))
  }

  #await(answer: Promise<Answer>): void {
    this.#isSent = true
    answer.then(
      (value) => this.#answer(value),
      (error: unknown) => this.#failed(error),
    )
  }

  #inflationOf(call: ExportCall, fits: () => void): Inflation {
    const { maxBodyBytes } = this.#context
    return new Inflation(call.contentEncoding, maxBodyBytes, {
      drained: () => {
        this.#isInflaterFull = false
        if (!this.#isReaderFull && !this.#isBodyOver) this.resume()
      },
      judged: (verdict) => {
        if (this.#isAnswered) return
        if (verdict === 'fits') fits()
        else if (verdict === 'too_large') this.#refuse(tooLarge(maxBodyBytes))
        else this.#refuse({ kind: 'bad_body', message: `The body is not valid ${call.contentEncoding}.` })
      },
    })
  }

  #answer(answer: Answer): void {
    if (this.#isAnswered) return
    const { signal, encoding, admitted } = this.#call!
    const isAccepted = answer.kind === 'accepted'
    const reply = isAccepted
      ? acceptedReply(answer, signal, encoding, admitted.warning)
      : this.#context.refusals.refusedReply(answer, encoding)
    this.#tell(isAccepted ? 'success' : 'failure', reply.status, undefined)
    this.#reply(reply)
  }

  #failed(error: unknown): void {
    this.#context.log.error({ event: 'http.failed', err: error }, 'a request over HTTP failed inside the gateway')
    this.#refuse({ kind: 'internal', message: 'The gateway has failed to serve this request.' })
  }

  /** The rest of the body will not come, or cannot be told from a next request. */
  #endBroken(refusal: Refusal): void {
    if (this.#isAnswered) {
      this.cut()
      return
    }
    this.#awaitsContinue = true
    this.#isBodyOver = true
    this.#refuse(refusal)
  }

  #refuse(refusal: Refusal, extra: FlatHeaders = noHeaders): void {
    if (this.#isAnswered) return
    const reply = this.#context.refusals.refusalReply(refusal, this.#encoding)
    this.#tell('refused', reply.status, refusal.kind)
    this.#reply(extra.length === 0 ? reply : { ...reply, headers: reply.headers.concat(extra) })
  }

  #tell(outcome: Outcome, status: number, refusedAs: RefusalKind | undefined): void {
    this.#context.observer.ended({
      outcome,
      status,
      presented: this.#presented,
      admitted: this.#call?.admitted,
      refusedAs,
      wireBytes: this.#wireBytes,
    })
  }

  #reply({ status, headers, body }: Reply): void {
    if (this.#isAnswered) return
    this.#isAnswered = true
    const expiresAt = this.#call?.admitted.expiresAt
    const cors = this.#context.cors.replyHeaders(this.#origin)
    let all = headers
    if (expiresAt !== undefined) all = all.concat('x-ingest-token-expires', expiresAt)
    if (cors.length > 0) all = all.concat(cors)
    this.#phase = this.#isBodyOver ? 'over' : 'discard'
    this.#letGo('the request was answered before its end')
    this.write(status, all, body, this.#awaitsContinue)
  }

  /** Gives up whatever the body held. */
  #letGo(why: string): void {
    this.#inflation?.cancel()
    this.#whole = undefined
    const stream = this.#stream
    if (stream !== undefined && !stream.readableEnded) stream.destroy(new BrokenBody(why))
    if (this.#call !== undefined && !this.#isSent) this.#context.ingest.abandon(this.#call)
    this.#readOn()
  }

  /** Nobody is left who could be overwhelmed. */
  #readOn(): void {
    if (!this.isPaused) return
    this.#isReaderFull = false
    this.#isInflaterFull = false
    if (!this.#isBodyOver) this.resume()
  }
}
