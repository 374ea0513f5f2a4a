import { GrpcCode } from '@penstock/otlp'
import type { Random } from '@penstock/runtime'
import type { Ingest } from '../admission/ingest.ts'
import type { InflationRules } from '../body/inflated-size-check.ts'
import { type BodyOwner, RequestBody, tooLarge } from '../body/request-body.ts'
import type { AdmissionRequest, Admitted } from '../contract/admission.ts'
import type { Answer } from '../contract/answer.ts'
import { type ExportCall, type FlatHeaders, noHeaders } from '../contract/export-call.ts'
import type { ExportObserver, Outcome } from '../contract/export-ending.ts'
import { detailOf, type Refusal } from '../contract/refusals.ts'
import type { Http2Stream } from '../http2/http2-stream.ts'
import { PREFIX_BYTES } from '../wire/grpc-wire.ts'
import { errorOfRefusal, type GrpcError, sendAnswer, sendError } from './grpc-answer.ts'

/** The state that all calls of a front share. */
export interface GrpcExportContext extends InflationRules {
  readonly ingest: Ingest
  readonly observer: ExportObserver
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  readonly random: Random
  /** Logs an internal error, which is not disclosed to the client. */
  readonly failed: (error: unknown) => void
  readonly over: (call: GrpcExport) => void
}

/** The result of reading the headers of an admitted call. */
interface GrpcExportStart {
  readonly admissionRequest: AdmissionRequest
  readonly admitted: Admitted
  readonly headers: FlatHeaders
  /** The lower-case `grpc-encoding`; '' for identity. */
  readonly contentEncoding: string
  readonly deadlineMs: number | undefined
}

/** Handles one unary Export call, from its first DATA frame to its trailers: takes the prefix off its message, which `RequestBody` passes on. */
export class GrpcExport implements BodyOwner {
  /** The index of this call in the list of the front. */
  index = -1
  readonly #stream: Http2Stream
  readonly #start: GrpcExportStart
  readonly #context: GrpcExportContext
  #lastDataMs: number
  #call: ExportCall | undefined
  /** An incomplete message prefix. */
  #prefix: Uint8Array | undefined
  /** The message, from the end of its prefix on. */
  #body: RequestBody | undefined
  #messageBytes = 0
  #hasEnded = false
  #isOver = false

  constructor(stream: Http2Stream, start: GrpcExportStart, context: GrpcExportContext) {
    this.#stream = stream
    this.#start = start
    this.#context = context
    this.#lastDataMs = context.monotonicMs()
  }

  data(chunk: Uint8Array): void {
    if (this.#isOver) return
    this.#lastDataMs = this.#context.monotonicMs()
    if (this.#body !== undefined) {
      this.#take(this.#body, chunk)
      return
    }
    const start = this.#prefix === undefined ? chunk : Buffer.concat([this.#prefix, chunk])
    this.#prefix = start
    if (start.length < PREFIX_BYTES) return
    this.#prefix = undefined
    const body = this.#begin(start)
    if (body !== undefined && start.length > PREFIX_BYTES) this.#take(body, start.subarray(PREFIX_BYTES))
  }

  end(): void {
    if (this.#isOver) return
    this.#hasEnded = true
    if (this.#body === undefined) this.#protocolError('the request has no message')
    else if (this.#body.wireBytes < this.#messageBytes) {
      this.#protocolError('the message is shorter than its prefix says')
    } else this.#body.end()
  }

  /** Handles the end of the stream. If the call has not been answered yet, the client has cancelled it. */
  closed(): void {
    if (this.#isOver) return
    this.#finish('the client cancelled the call')
    this.#context.observer.clientAborted()
    this.#call?.onClientGone?.()
  }

  failed(error: unknown): void {
    this.#context.failed(error)
    this.bodyRefused({ kind: 'internal', message: 'The gateway failed to forward this request.' })
  }

  /** Ends the call if its message has stopped arriving or is not complete at the client's deadline (P-23). */
  endIfSlow(monotonicMs: number, idleBodyTimeoutMs: number): void {
    if (this.#isOver || this.#hasEnded) return
    // A message that arrived in one piece, but did not end its stream, can be refused from now on.
    this.#body?.mayBeRefused()
    const { deadlineMs } = this.#start
    if (deadlineMs !== undefined && monotonicMs >= deadlineMs) {
      this.#fail({
        code: GrpcCode.DEADLINE_EXCEEDED,
        message: 'the message was not complete at the deadline of the client',
        retryDelayMs: undefined,
      })
    } else if (this.#body?.isPaused === true) {
      // While upstream does not read, the gateway does not read from the client, so the silence is not the client's.
      this.#lastDataMs = monotonicMs
    } else if (monotonicMs - this.#lastDataMs >= idleBodyTimeoutMs) {
      this.bodyRefused({ kind: 'overloaded', message: 'The message stopped arriving. Send it again.' })
    }
  }

  bodySent(answer: Promise<Answer>): void {
    answer.then(this.#onAnswer, this.#onFailure)
  }

  bodyRefused(refusal: Refusal): void {
    this.#fail(errorOfRefusal(refusal, this.#context.random), refusal)
  }

  resumeBody(): void {
    this.#stream.resume()
  }

  readonly #onAnswer = (answer: Answer): void => {
    try {
      this.#answer(answer)
    } catch (error) {
      this.failed(error)
    }
  }

  readonly #onFailure = (error: unknown): void => {
    this.failed(error)
  }

  /** Handles the prefix of the message. Returns the message if it is to be read. */
  #begin(start: Uint8Array): RequestBody | undefined {
    const { ingest, maxBodyBytes } = this.#context
    const { contentEncoding } = this.#start
    const isCompressed = start[0] === 1
    const bytes = ((start[1]! << 24) | (start[2]! << 16) | (start[3]! << 8) | start[4]!) >>> 0
    if (start[0]! > 1) {
      this.#protocolError('the first byte of the message is neither 0 nor 1')
      return undefined
    }
    if (isCompressed && contentEncoding === '') {
      this.#protocolError('the message is compressed, but grpc-encoding does not say how')
      return undefined
    }
    const call = this.#toCall(bytes, isCompressed ? contentEncoding : '')
    const refusal = bytes > maxBodyBytes ? tooLarge(maxBodyBytes, 'grpc') : ingest.refusalBeforeBody(call)
    if (refusal !== undefined) {
      this.bodyRefused(refusal)
      return undefined
    }
    this.#call = call
    this.#messageBytes = bytes
    this.#body = new RequestBody(call, this.#context, this, true)
    return this.#body
  }

  #toCall(declaredBytes: number, contentEncoding: string): ExportCall {
    const { admissionRequest, headers, deadlineMs, admitted } = this.#start
    return {
      transport: 'grpc',
      signal: admissionRequest.signal,
      encoding: 'protobuf',
      contentEncoding,
      headers,
      declaredBytes,
      deadlineMs,
      admitted,
      onClientGone: undefined,
      reservedBytes: 0,
      arriving: undefined,
      sentAtMs: undefined,
      trusted: noHeaders,
    }
  }

  #take(body: RequestBody, part: Uint8Array): void {
    if (body.wireBytes + part.length > this.#messageBytes) {
      this.#protocolError('the request has more than one message')
    } else if (!body.take(part)) {
      this.#stream.pause()
    }
  }

  #answer(answer: Answer): void {
    if (this.#isOver) return
    this.#finish('the call was answered before its message was complete')
    const { admissionRequest, admitted } = this.#start
    const status = answer.kind === 'accepted' ? GrpcCode.OK : answer.grpcCode
    this.#reportEnding(answer.kind === 'accepted' ? 'success' : 'failure', status, undefined)
    sendAnswer(this.#stream, answer, admissionRequest.signal, admitted, this.#context.nowMs())
  }

  #protocolError(message: string): void {
    this.#fail({ code: GrpcCode.INTERNAL, message, retryDelayMs: undefined })
  }

  #fail(error: GrpcError, refusal?: Refusal): void {
    if (this.#isOver) return
    this.#finish(error.message)
    this.#reportEnding('refused', error.code, refusal)
    sendError(this.#stream, error)
  }

  #reportEnding(outcome: Outcome, status: number, refusal: Refusal | undefined): void {
    const { admissionRequest, admitted } = this.#start
    this.#context.observer.ended({
      outcome,
      status,
      admissionRequest,
      admitted,
      refusedAs: refusal?.kind,
      detail: refusal && detailOf(refusal),
      wireBytes: this.#body?.wireBytes ?? 0,
      sentAtMs: this.#call?.sentAtMs,
    })
  }

  /** Releases everything that the call holds. */
  #finish(why: string): void {
    this.#isOver = true
    this.#body?.discard(why)
    this.#context.over(this)
  }
}
