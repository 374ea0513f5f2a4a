import type { Encoding } from '@penstock/otlp'
import type { Log } from '@penstock/runtime'
import type { Ingest } from '../admission/ingest.ts'
import type { InflationRules } from '../body/inflated-size-check.ts'
import { type BodyOwner, RequestBody } from '../body/request-body.ts'
import { DISCARD_BYTES } from '../connections/discard-limits.ts'
import type { Peer } from '../connections/listener-connection.ts'
import type { AdmissionRequest } from '../contract/admission.ts'
import type { Answer } from '../contract/answer.ts'
import type { BodyReceiver } from '../contract/body-receiver.ts'
import type { ExportCall, FlatHeaders } from '../contract/export-call.ts'
import type { ExportObserver, Outcome } from '../contract/export-ending.ts'
import { allAccepted } from '../contract/gateway-answers.ts'
import { detailOf, type Refusal } from '../contract/refusals.ts'
import type { RequestHead } from '../contract/request-head.ts'
import type { Cors } from './cors.ts'
import type { HeadReader } from './http-headers.ts'
import type { PathTable, RequestTarget } from './http-path.ts'
import { acceptedReply, type RefusalWriter, type Reply } from './reply.ts'
import type { Framing, RequestValidator } from './request-validator.ts'

/** The state that all requests of a front share. */
export interface HttpExchangeContext extends InflationRules {
  readonly ingest: Ingest
  readonly log: Log
  readonly paths: PathTable
  readonly heads: HeadReader
  readonly validator: RequestValidator
  readonly cors: Cors
  readonly refusals: RefusalWriter
  readonly observer: ExportObserver
}

const noHeaders: FlatHeaders = []

/**
 * One request over HTTP, from its head to the end of its body or of its reply, whichever is later. After the reply, the
 * rest of the body is read and discarded (P-11). Subclasses write the reply for one version of HTTP.
 */
export abstract class HttpExchange implements BodyReceiver, BodyOwner {
  readonly #context: HttpExchangeContext
  readonly #peer: Peer
  #isAnswered = false
  #isBodyOver = false
  #isGone = false
  /**
   * Whether it is unknown where the request ends. A client that waits for `100 Continue` may skip the body, so either
   * the body or the next request follows the head.
   */
  #awaitsContinue = false
  #discardedBytes = 0
  #encoding: Encoding = 'json'
  #origin: string | undefined
  #admissionRequest: AdmissionRequest | undefined
  #call: ExportCall | undefined
  #body: RequestBody | undefined

  constructor(context: HttpExchangeContext, peer: Peer) {
    this.#context = context
    this.#peer = peer
  }

  /** Writes the reply. `isClosing`: the connection must not be used for another request. */
  protected abstract write(status: number, headers: FlatHeaders, body: Uint8Array | undefined, isClosing: boolean): void
  /** Ends the exchange when the body of a request that was answered early is complete. */
  protected abstract finish(): void
  protected abstract writeContinue(): void
  /** Ends the exchange without reading or writing anything more. */
  protected abstract cut(): void
  abstract resumeBody(): void

  get isPaused(): boolean {
    return this.#body?.isPaused === true
  }

  protected get isBodyOver(): boolean {
    return this.#isBodyOver
  }

  begin(method: string, requestTarget: string, rawHeaders: readonly string[], framing: Framing): void {
    const { paths, heads } = this.#context
    try {
      const target = paths.find(requestTarget)
      this.#begin(method, target, heads.read(rawHeaders, target.queryCredential), rawHeaders, framing)
    } catch (error) {
      this.#internalError(error)
    }
  }

  /** Begins the request like `begin`, with a request target and a head that have already been interpreted. */
  protected beginRead(
    method: string,
    target: RequestTarget,
    head: RequestHead,
    rawHeaders: readonly string[],
    framing: Framing,
  ): void {
    try {
      this.#begin(method, target, head, rawHeaders, framing)
    } catch (error) {
      this.#internalError(error)
    }
  }

  onBody(piece: Uint8Array): boolean {
    if (this.#isAnswered) {
      this.#discardedBytes += piece.length
      if (this.#discardedBytes > DISCARD_BYTES) this.cut()
      return true
    }
    try {
      return this.#body?.take(piece) ?? true
    } catch (error) {
      this.#internalError(error)
      return true
    }
  }

  onBodyEnd(): void {
    if (this.#isBodyOver) return
    this.#isBodyOver = true
    if (this.#isAnswered) {
      if (!this.#isGone) this.finish()
      return
    }
    try {
      // An empty body is accepted without asking upstream (P-19).
      if (this.#body?.wireBytes === 0) this.#answer(allAccepted)
      else this.#body?.end()
    } catch (error) {
      this.#internalError(error)
    }
  }

  onAborted(): void {
    const wasAnswered = this.#isAnswered
    this.#isGone = true
    this.#isAnswered = true
    if (wasAnswered) return
    this.#body?.discard('the client closed the connection')
    this.#context.observer.clientAborted()
    this.#call?.onClientGone?.()
  }

  onStalled(): void {
    this.#endBroken({ kind: 'overloaded', message: 'The body of this request stopped arriving. Send it again.' })
  }

  onBroken(): void {
    this.#endBroken({ kind: 'bad_request', message: 'The body of this request is not valid HTTP framing.' })
  }

  bodySent(answer: Promise<Answer>): void {
    answer.then(this.#onAnswer, this.#onFailure)
  }

  bodyRefused(refusal: Refusal): void {
    this.#refuse(refusal)
  }

  #begin(
    method: string,
    target: RequestTarget,
    head: RequestHead,
    rawHeaders: readonly string[],
    framing: Framing,
  ): void {
    const { validator } = this.#context
    this.#origin = head.origin
    this.#encoding = head.encoding ?? 'json'
    this.#awaitsContinue = head.expectsContinue
    const verdict = validator.validate(head, target, { method, rawHeaders, peer: this.#peer }, framing)
    switch (verdict.kind) {
      case 'receive':
        this.#admissionRequest = verdict.admissionRequest
        this.#receive(verdict.call, framing.declaresLength)
        if (verdict.isEmpty) this.#answer(allAccepted)
        break
      case 'reply':
        this.#reply(verdict.reply)
        break
      case 'refuse':
        this.#admissionRequest = verdict.admissionRequest
        this.#call = verdict.call
        if (verdict.isBroken) this.#endBroken(verdict.refusal)
        else this.#refuse(verdict.refusal, verdict.extra)
    }
  }

  readonly #onAnswer = (answer: Answer): void => {
    try {
      this.#answer(answer)
    } catch (error) {
      this.#internalError(error)
    }
  }

  readonly #onFailure = (error: unknown): void => {
    this.#internalError(error)
  }

  #receive(call: ExportCall, endsWithLength: boolean): void {
    this.#call = call
    this.#body = new RequestBody(call, this.#context, this, endsWithLength)
    if (!this.#awaitsContinue) return
    this.#awaitsContinue = false
    this.writeContinue()
  }

  #answer(answer: Answer): void {
    if (this.#isAnswered) return
    const { signal, encoding, admitted } = this.#call!
    const isAccepted = answer.kind === 'accepted'
    const reply = isAccepted
      ? acceptedReply(answer, signal, encoding, admitted.warning)
      : this.#context.refusals.refusedReply(answer, encoding)
    this.#reportEnding(isAccepted ? 'success' : 'failure', reply.status, undefined)
    this.#reply(reply)
  }

  #internalError(error: unknown): void {
    this.#context.log.error({ event: 'http.failed', err: error }, 'a request over HTTP failed inside the gateway')
    try {
      if (this.#isAnswered) this.cut()
      else this.#refuse({ kind: 'internal', message: 'The gateway failed to process this request.' })
    } catch {
      this.cut()
    }
  }

  /** Refuses the request and closes the connection, because the end of the body is unknown. */
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
    this.#reportEnding('refused', reply.status, refusal)
    this.#reply(extra.length === 0 ? reply : { ...reply, headers: reply.headers.concat(extra) })
  }

  #reportEnding(outcome: Outcome, status: number, refusal: Refusal | undefined): void {
    this.#context.observer.ended({
      outcome,
      status,
      admissionRequest: this.#admissionRequest,
      admitted: this.#call?.admitted,
      refusedAs: refusal?.kind,
      detail: refusal && detailOf(refusal),
      wireBytes: this.#body?.wireBytes ?? 0,
      sentAtMs: this.#call?.sentAtMs,
    })
  }

  #reply({ status, headers, body }: Reply): void {
    this.#isAnswered = true
    if (this.#body !== undefined) this.#body.discard('the request was answered before its end')
    else if (this.#call !== undefined) this.#context.ingest.abandon(this.#call)
    const expiresAt = this.#call?.admitted.expiresAt
    const cors = this.#context.cors.replyHeaders(this.#origin)
    let all = headers
    if (expiresAt !== undefined) all = all.concat('x-ingest-token-expires', expiresAt)
    if (cors.length > 0) all = all.concat(cors)
    this.write(status, all, body, this.#awaitsContinue)
  }
}
