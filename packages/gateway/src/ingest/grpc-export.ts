import type { ServerHttp2Stream } from 'node:http2'
import { Readable } from 'node:stream'
import { GrpcCode } from '@penstock/otlp'
import type { Admitted } from './admission.ts'
import type { ExportCall, FlatHeaders } from './export-call.ts'
import { errorOfRefusal, type GrpcError, sendAnswer, sendError } from './grpc-answer.ts'
import { PREFIX_BYTES } from './grpc-wire.ts'
import type { Ingest } from './ingest.ts'
import type { RefusalKind } from './refusals.ts'
import type { IngestSignal } from './signals.ts'

/** What all calls of a front have in common. */
export interface GrpcExportContext {
  readonly ingest: Ingest
  readonly nowMs: () => number
  readonly retryAfterSeconds: () => number
  readonly maxBodyBytes: number
  /** What went wrong inside; the client learns only that something did. */
  readonly failed: (error: unknown) => void
  readonly clientAborted: () => void
  readonly over: (call: GrpcExport) => void
}

/** What the headers of an admitted call have said. */
export interface GrpcExportStart {
  readonly signal: IngestSignal
  readonly admitted: Admitted
  readonly headers: FlatHeaders
  /** `grpc-encoding`, lower case; '' when there is none. */
  readonly contentEncoding: string
  readonly deadlineMs: number | undefined
}

const breach = (message: string): GrpcError => ({ code: GrpcCode.INTERNAL, message, retryDelayMs: undefined })

/** One unary Export, from the first DATA to the trailers. Exactly one message, held whole or passed on as it comes. */
export class GrpcExport {
  /** Where the front's list of calls has this one. */
  index = -1
  #lastDataMs: number
  readonly #stream: ServerHttp2Stream
  readonly #start: GrpcExportStart
  readonly #context: GrpcExportContext
  #call: ExportCall | undefined
  /** The beginning of a prefix, or the first piece of a message that is wanted whole. */
  #held: Uint8Array | undefined
  #more: Uint8Array[] | undefined
  #passing: Readable | undefined
  #messageBytes = -1
  #gotBytes = 0
  /** Upstream has it, or part of it. */
  #isSent = false
  #isOver = false

  constructor(stream: ServerHttp2Stream, start: GrpcExportStart, context: GrpcExportContext) {
    this.#stream = stream
    this.#start = start
    this.#context = context
    this.#lastDataMs = context.nowMs()
  }

  data(chunk: Uint8Array): void {
    if (this.#isOver) return
    this.#lastDataMs = this.#context.nowMs()
    if (this.#messageBytes >= 0) {
      this.#take(chunk)
      return
    }
    const start = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk])
    if (start.length < PREFIX_BYTES) {
      this.#held = start
      return
    }
    this.#held = undefined
    if (this.#begin(start) && start.length > PREFIX_BYTES) this.#take(start.subarray(PREFIX_BYTES))
  }

  end(): void {
    if (this.#isOver) return
    if (this.#messageBytes < 0) this.#fail(breach('the request holds no message'))
    else if (this.#gotBytes < this.#messageBytes) this.#fail(breach('the message is shorter than its prefix says'))
    else if (this.#passing !== undefined) this.#passing.push(null)
    else void this.#send(this.#whole())
  }

  /** The stream is gone. When that happens before the answer, it was the client's doing. */
  closed(): void {
    if (this.#isOver) return
    this.#leave()
    this.#context.clientAborted()
    this.#passing?.destroy(new Error('the client broke off'))
    this.#call?.onClientGone?.()
  }

  /** Ends a call whose body does not come, or that came too late (P-23). */
  endIfSlow(nowMs: number, idleBodyTimeoutMs: number): void {
    if (this.#isOver || this.#stream.readableEnded) return
    const { deadlineMs } = this.#start
    const isPaused = this.#stream.isPaused()
    const isLate = deadlineMs !== undefined && nowMs >= deadlineMs
    // While upstream does not read, the client's silence is our own doing.
    if (!isLate && (isPaused || nowMs - this.#lastDataMs < idleBodyTimeoutMs)) return
    this.#fail({
      code: GrpcCode.DEADLINE_EXCEEDED,
      message: 'the request has not come in time',
      retryDelayMs: undefined,
    })
  }

  /** On the prefix of the message; whether the message is to be read. */
  #begin(start: Uint8Array): boolean {
    const { ingest, maxBodyBytes } = this.#context
    const { contentEncoding } = this.#start
    const isCompressed = start[0] === 1
    const bytes = ((start[1]! << 24) | (start[2]! << 16) | (start[3]! << 8) | start[4]!) >>> 0
    if (start[0]! > 1) return this.#fail(breach('the first byte of the message is neither 0 nor 1'))
    if (isCompressed && (contentEncoding === '' || contentEncoding === 'identity')) {
      return this.#fail(breach('the message is compressed, but grpc-encoding does not say how'))
    }
    if (bytes > maxBodyBytes) return this.#refuse('body_too_large', `The message is longer than ${maxBodyBytes} bytes.`)
    const call = this.#callOf(bytes, isCompressed ? contentEncoding : '')
    const refusal = ingest.reserve(call, bytes)
    if (refusal !== undefined) return this.#fail(errorOfRefusal(refusal))
    this.#call = call
    this.#messageBytes = bytes
    if (!ingest.wantsWhole(call)) {
      this.#passing = new Readable({ read: () => this.#stream.resume() })
      this.#passing.on('error', () => {})
      void this.#send(this.#passing)
    }
    return true
  }

  #callOf(declaredBytes: number, contentEncoding: string): ExportCall {
    const { signal, headers, deadlineMs, admitted } = this.#start
    return {
      transport: 'grpc',
      signal,
      encoding: 'protobuf',
      contentEncoding,
      headers,
      declaredBytes,
      deadlineMs,
      admitted,
      onClientGone: undefined,
      reservedBytes: 0,
    }
  }

  #take(part: Uint8Array): void {
    this.#gotBytes += part.length
    if (this.#gotBytes > this.#messageBytes) {
      this.#fail(breach('the request holds more than one message'))
    } else if (this.#passing !== undefined) {
      if (!this.#passing.push(part)) this.#stream.pause()
    } else if (this.#held === undefined) {
      this.#held = part
    } else {
      this.#more ??= [this.#held]
      this.#more.push(part)
    }
  }

  #whole(): Uint8Array {
    if (this.#more !== undefined) return Buffer.concat(this.#more, this.#messageBytes)
    return this.#held ?? noBytes
  }

  async #send(body: Uint8Array | Readable): Promise<void> {
    const { ingest, nowMs, failed } = this.#context
    const call = this.#call!
    this.#isSent = true
    try {
      const answer = await (body instanceof Uint8Array ? ingest.sendWhole(call, body) : ingest.sendStream(call, body))
      if (this.#isOver) return
      this.#leave()
      sendAnswer(this.#stream, answer, this.#start.signal, this.#start.admitted, nowMs())
    } catch (error) {
      failed(error)
      this.#refuse('internal', 'The gateway has failed to forward this request.')
    }
  }

  #refuse(kind: RefusalKind, message: string): false {
    return this.#fail(errorOfRefusal({ kind, message, retryAfterSeconds: this.#context.retryAfterSeconds() }))
  }

  #fail(error: GrpcError): false {
    if (this.#isOver) return false
    this.#leave()
    this.#passing?.destroy(new Error(error.message))
    sendError(this.#stream, error)
    return false
  }

  #leave(): void {
    this.#isOver = true
    // The gate gives back what a call holds once it has its answer; of a call it never got, it does not know.
    if (this.#call !== undefined && !this.#isSent) this.#context.ingest.release(this.#call)
    this.#context.over(this)
  }
}

const noBytes = Buffer.alloc(0)
