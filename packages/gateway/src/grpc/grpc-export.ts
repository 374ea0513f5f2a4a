import { GrpcCode } from '@penstock/otlp'
import type { Random } from '@penstock/runtime'
import type { Ingest, RefusableBody } from '../admission/ingest.ts'
import { BodyBuffer } from '../body/body-buffer.ts'
import { type BodySource, BodyStream, BrokenBody } from '../body/body-stream.ts'
import { InflatedSizeCheck, type InflationRules, uninspectedBytes } from '../body/inflated-size-check.ts'
import type { AdmissionRequest, Admitted } from '../contract/admission.ts'
import type { Answer } from '../contract/answer.ts'
import { type ExportCall, type FlatHeaders, noHeaders } from '../contract/export-call.ts'
import type { ExportObserver, Outcome } from '../contract/export-ending.ts'
import { detailOf, type Refusal, type RefusalKind } from '../contract/refusals.ts'
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
export interface GrpcExportStart {
  readonly admissionRequest: AdmissionRequest
  readonly admitted: Admitted
  readonly headers: FlatHeaders
  /** The lower-case `grpc-encoding`; '' for identity. */
  readonly contentEncoding: string
  readonly deadlineMs: number | undefined
}

/** Handles one unary Export call, from its first DATA frame to its trailers. Its message is buffered or streamed. */
export class GrpcExport implements BodySource, RefusableBody {
  /** The index of this call in the list of the front. */
  index = -1
  readonly #stream: Http2Stream
  readonly #start: GrpcExportStart
  readonly #context: GrpcExportContext
  #lastDataMs: number
  #call: ExportCall | undefined
  /** An incomplete message prefix. */
  #prefix: Uint8Array | undefined
  #buffered: BodyBuffer | undefined
  #streamed: BodyStream | undefined
  #sizeCheck: InflatedSizeCheck | undefined
  #isReaderFull = false
  #isInflaterFull = false
  #messageBytes = -1
  #gotBytes = 0
  #hasEnded = false
  /** Whether the call has been passed to the gate, which then releases its reservation. */
  #isSent = false
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
    if (this.#messageBytes >= 0) {
      this.#take(chunk)
      return
    }
    const start = this.#prefix === undefined ? chunk : Buffer.concat([this.#prefix, chunk])
    this.#prefix = start
    if (start.length < PREFIX_BYTES) return
    this.#prefix = undefined
    if (this.#begin(start) && start.length > PREFIX_BYTES) this.#take(start.subarray(PREFIX_BYTES))
  }

  end(): void {
    if (this.#isOver) return
    this.#hasEnded = true
    if (this.#call !== undefined) this.#context.ingest.bodyEnded(this.#call)
    if (this.#messageBytes < 0) this.#protocolError('the request has no message')
    else if (this.#gotBytes < this.#messageBytes) this.#protocolError('the message is shorter than its prefix says')
    else if (this.#buffered !== undefined) this.#checkBuffered(this.#buffered.bytes())
    else if (this.#sizeCheck !== undefined) this.#sizeCheck.end()
    else this.#streamed?.complete()
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
    this.#refuseAs('internal', 'The gateway failed to forward this request.')
  }

  /** Ends the call if its message has stopped arriving or is not complete at the client's deadline (P-23). */
  endIfSlow(monotonicMs: number, idleBodyTimeoutMs: number): void {
    if (this.#isOver || this.#hasEnded) return
    // A message that arrived in one piece, but did not end its stream, can be refused from now on.
    if (this.#gotBytes > 0) this.#context.ingest.reserveArrived(this.#call!, 0, this)
    const { deadlineMs } = this.#start
    if (deadlineMs !== undefined && monotonicMs >= deadlineMs) {
      this.#fail({
        code: GrpcCode.DEADLINE_EXCEEDED,
        message: 'the message was not complete at the deadline of the client',
        retryDelayMs: undefined,
      })
    } else if (this.isPaused) {
      // While upstream does not read, the gateway does not read from the client, so the silence is not the client's.
      this.#lastDataMs = monotonicMs
    } else if (monotonicMs - this.#lastDataMs >= idleBodyTimeoutMs) {
      this.#refuseAs('overloaded', 'The message stopped arriving. Send it again.')
    }
  }

  onReaderReady(): void {
    if (!this.#isReaderFull) return
    this.#isReaderFull = false
    this.#resumeIfReady()
  }

  onReaderGone(): void {
    this.#sizeCheck?.cancel()
    this.#isInflaterFull = false
    this.#isReaderFull = false
    this.#resumeIfReady()
  }

  get isPaused(): boolean {
    return this.#isReaderFull || this.#isInflaterFull
  }

  refuseBody(refusal: Refusal): void {
    this.#refuse(refusal)
  }

  #resumeIfReady(): void {
    if (!this.isPaused && !this.#hasEnded) this.#stream.resume()
  }

  /** Handles the prefix of the message. Returns whether the message is to be read. */
  #begin(start: Uint8Array): boolean {
    const { ingest, maxBodyBytes } = this.#context
    const { contentEncoding } = this.#start
    const isCompressed = start[0] === 1
    const bytes = ((start[1]! << 24) | (start[2]! << 16) | (start[3]! << 8) | start[4]!) >>> 0
    if (start[0]! > 1) return this.#protocolError('the first byte of the message is neither 0 nor 1')
    if (isCompressed && contentEncoding === '') {
      return this.#protocolError('the message is compressed, but grpc-encoding does not say how')
    }
    if (bytes > maxBodyBytes) return this.#refuseSize()
    const call = this.#callOf(bytes, isCompressed ? contentEncoding : '')
    const refusal = ingest.refusalBeforeBody(call)
    if (refusal !== undefined) return this.#refuse(refusal)
    this.#call = call
    this.#messageBytes = bytes
    if (bytes <= ingest.maxBufferedBytes(call)) this.#buffered = new BodyBuffer(bytes)
    else this.#pass(call)
    return true
  }

  #callOf(declaredBytes: number, contentEncoding: string): ExportCall {
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

  #take(part: Uint8Array): void {
    this.#gotBytes += part.length
    if (this.#gotBytes > this.#messageBytes) {
      this.#protocolError('the request has more than one message')
      return
    }
    const refusal = this.#reserve(part.length)
    if (refusal !== undefined) {
      this.#refuse(refusal)
    } else if (this.#buffered !== undefined) {
      this.#buffered.add(part)
    } else if (this.#streamed !== undefined && !this.#streamed.destroyed) {
      if (this.#sizeCheck?.write(part) === false) this.#isInflaterFull = true
      if (!this.#streamed.add(part)) this.#isReaderFull = true
      if (this.isPaused) this.#stream.pause()
    }
  }

  #reserve(bytes: number): Refusal | undefined {
    const { ingest } = this.#context
    const call = this.#call!
    return bytes === this.#messageBytes ? ingest.reserve(call, bytes) : ingest.reserveArrived(call, bytes, this)
  }

  #pass(call: ExportCall): void {
    const isInspected = this.#messageBytes > uninspectedBytes(call, this.#context)
    const streamed = new BodyStream(this, isInspected)
    this.#streamed = streamed
    if (isInspected) this.#sizeCheck = this.#createSizeCheck(call, () => streamed.complete())
    void this.#send(call, streamed)
  }

  #checkBuffered(body: Uint8Array): void {
    const call = this.#call!
    if (body.length <= uninspectedBytes(call, this.#context)) {
      void this.#send(call, body)
      return
    }
    this.#sizeCheck = this.#createSizeCheck(call, () => void this.#send(call, body))
    this.#sizeCheck.write(body)
    this.#sizeCheck.end()
  }

  #createSizeCheck(call: ExportCall, fits: () => void): InflatedSizeCheck {
    return new InflatedSizeCheck(call.contentEncoding, this.#context.maxBodyBytes, {
      onDrained: () => {
        this.#isInflaterFull = false
        this.#resumeIfReady()
      },
      onVerdict: (verdict) => {
        if (this.#isOver) return
        if (verdict === 'fits') fits()
        else if (verdict === 'too_large') this.#refuseSize()
        else this.#refuseAs('bad_body', `The message is not valid ${call.contentEncoding}.`)
      },
    })
  }

  async #send(call: ExportCall, body: Uint8Array | BodyStream): Promise<void> {
    const { ingest } = this.#context
    this.#isSent = true
    this.#buffered = undefined
    try {
      this.#answer(await (body instanceof Uint8Array ? ingest.sendBuffered(call, body) : ingest.sendStream(call, body)))
    } catch (error) {
      this.failed(error)
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

  #protocolError(message: string): false {
    return this.#fail({ code: GrpcCode.INTERNAL, message, retryDelayMs: undefined })
  }

  #refuseSize(): false {
    const { maxBodyBytes } = this.#context
    return this.#refuseAs('body_too_large', `The message is longer than ${maxBodyBytes} bytes, as sent or inflated.`)
  }

  #refuseAs(kind: RefusalKind, message: string): false {
    return this.#refuse({ kind, message })
  }

  #refuse(refusal: Refusal): false {
    return this.#fail(errorOfRefusal(refusal, this.#context.random), refusal)
  }

  #fail(error: GrpcError, refusal?: Refusal): false {
    if (this.#isOver) return false
    this.#finish(error.message)
    this.#reportEnding('refused', error.code, refusal)
    sendError(this.#stream, error)
    return false
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
      wireBytes: this.#gotBytes,
      sentAtMs: this.#call?.sentAtMs,
    })
  }

  /** Releases everything that the call holds. */
  #finish(why: string): void {
    this.#isOver = true
    this.#sizeCheck?.cancel()
    this.#buffered = undefined
    if (this.#streamed !== undefined && !this.#streamed.readableEnded) this.#streamed.destroy(new BrokenBody(why))
    if (this.#call !== undefined && !this.#isSent) this.#context.ingest.abandon(this.#call)
    this.#context.over(this)
  }
}
