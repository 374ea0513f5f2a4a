import { type Readable, Transform } from 'node:stream'
import type { Clock, Log, Random } from '@penstock/runtime'
import { attributeBody } from '../attribution/attribute-body.ts'
import type { Coalescer } from '../coalesce/coalescer.ts'
import type { Admission, AdmissionRequest, Admitted } from '../contract/admission.ts'
import type { Answer } from '../contract/answer.ts'
import type { ArrivingBody } from '../contract/arriving-body.ts'
import type { ExportCall, FlatHeaders } from '../contract/export-call.ts'
import { gatewayRefusal } from '../contract/gateway-answers.ts'
import type { Refusal } from '../contract/refusals.ts'
import { retryAfterSeconds } from '../contract/retry-after.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import type { Transport } from '../contract/transport.ts'
import type { Upstream } from '../contract/upstream.ts'
import { upstreamDeadlineMs } from '../contract/upstream-deadline.ts'
import type { WrongPathRequest } from '../contract/wrong-path.ts'
import type { ClientSketch } from '../enforcement/client-sketch.ts'
import type { InFlightBudget } from '../limits/in-flight-budget.ts'
import type { Limiter } from '../limits/limiter.ts'
import type { GateMetrics } from '../metrics/gate-metrics.ts'
import type { Cell } from '../metrics/registry.ts'
import type { AdmissionController } from './admission-controller.ts'
import type { Ingest, RefusableBody } from './ingest.ts'

interface GateParts {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
  readonly admissionController: AdmissionController
  readonly limiter: Limiter
  readonly budget: InFlightBudget
  readonly clientStats: ClientSketch
  readonly metrics: GateMetrics
  /** Returns the upstream of an admitted call. */
  readonly upstreamOf: (admitted: Admitted) => Upstream
  /** Returns the headers that only the gateway may set. */
  readonly trustedHeaders: (admitted: Admitted) => FlatHeaders
  /** Whether token id and name are written into the resources of every body. */
  readonly attributesResources: boolean
  /** The highest inflated length (P-8). */
  readonly maxBodyBytes: number
  readonly coalescer: Coalescer | undefined
  /** Whether the access log needs the duration of upstream requests (O-13). */
  readonly timesCalls: boolean
}

/**
 * The longest body that is buffered until it is complete. This costs less than a stream and allows a second attempt.
 */
const MAX_BUFFERED_BYTES = 256 * 1024
/** The number of bytes of a body that the readiness report inspects. */
const SAMPLE_BYTES = 64 * 1024

/** Handles an export from its headers to its answer. Shared by the HTTP and gRPC fronts. */
export class Gate implements Ingest {
  readonly #parts: GateParts
  readonly #inFlightBytes: Readonly<Record<Transport, Cell>>
  #inFlightCalls = 0
  #onIdle: (() => void) | undefined

  constructor(parts: GateParts) {
    this.#parts = parts
    const { metrics } = parts
    this.#inFlightBytes = { http: metrics.inFlightBytes('http'), grpc: metrics.inFlightBytes('grpc') }
  }

  admit(admissionRequest: AdmissionRequest): Admission {
    return this.#parts.admissionController.admit(admissionRequest)
  }

  recordWrongPath(request: WrongPathRequest): void {
    this.#parts.admissionController.recordWrongPath(request)
  }

  maxBufferedBytes(call: ExportCall): number {
    const isRewritten = this.#parts.attributesResources && call.admitted.token !== undefined
    return isRewritten ? Number.POSITIVE_INFINITY : MAX_BUFFERED_BYTES
  }

  refusalBeforeBody(call: ExportCall): Refusal | undefined {
    return this.#parts.budget.mayBegin(call.declaredBytes ?? 0) ? undefined : this.#noRoom()
  }

  reserve(call: ExportCall, bytes: number): Refusal | undefined {
    if (!this.#parts.budget.reserve(call.admitted.token?.id, bytes)) return this.#noRoom()
    this.#reserved(call, bytes)
    return undefined
  }

  reserveArrived(call: ExportCall, bytes: number, body: RefusableBody): Refusal | undefined {
    const { budget } = this.#parts
    call.arriving ??= this.#beginBody(call, body)
    const reserved = budget.grow(call.arriving, bytes)
    if (reserved === undefined) return this.#noRoom()
    this.#reserved(call, reserved)
    return undefined
  }

  bodyEnded(call: ExportCall): void {
    const { arriving } = call
    if (arriving === undefined) return
    call.arriving = undefined
    this.#parts.budget.end(arriving)
    this.#release(call, arriving.surplusBytes)
  }

  abandon(call: ExportCall): void {
    this.bodyEnded(call)
    this.#release(call, call.reservedBytes)
  }

  async sendBuffered(call: ExportCall, body: Uint8Array): Promise<Answer> {
    this.#begin(call)
    try {
      const answer = await this.#sendBuffered(call, body)
      this.#settle(call, body.length)
      if (call.admitted.sample !== undefined) this.#reportSample(call, call.admitted.sample, body)
      return answer
    } catch (error) {
      return this.#internalError(error)
    } finally {
      this.#end(call)
    }
  }

  async sendStream(call: ExportCall, body: Readable): Promise<Answer> {
    this.#begin(call)
    const measured = this.#measured(call, body)
    const { upstreamOf, clock } = this.#parts
    try {
      const answer = await upstreamOf(call.admitted).send({
        signal: call.signal,
        encoding: call.encoding,
        contentEncoding: call.contentEncoding,
        headers: call.headers.concat(call.trusted),
        body: measured.stream,
        contentLength: call.declaredBytes,
        deadlineMs: upstreamDeadlineMs(call, clock.monotonicMs()),
        onAbortable: (abort) => {
          call.onClientGone = abort
        },
      })
      this.#settle(call, measured.bytes())
      return answer
    } catch (error) {
      return this.#internalError(error)
    } finally {
      this.#end(call)
    }
  }

  /** Resolves when all calls have been answered. */
  async idle(): Promise<void> {
    await this.#parts.coalescer?.flush()
    if (this.#inFlightCalls === 0) return
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
  }

  #beginBody(call: ExportCall, body: RefusableBody): ArrivingBody {
    const { budget, maxBodyBytes } = this.#parts
    return budget.begin(call.admitted.token?.id, call.declaredBytes ?? maxBodyBytes, call.reservedBytes, {
      get isPaused() {
        return body.isPaused
      },
      refuse: () => {
        body.refuseBody(this.#noRoom())
        this.abandon(call)
      },
    })
  }

  #noRoom(): Refusal {
    const message = 'The gateway already buffers as many bytes as it may. Send this request again later.'
    return { kind: 'overloaded', message, retryAfterSeconds: retryAfterSeconds(this.#parts.random) }
  }

  #reserved(call: ExportCall, bytes: number): void {
    call.reservedBytes += bytes
    this.#inFlightBytes[call.transport].value += bytes
  }

  #release(call: ExportCall, bytes: number): void {
    if (bytes === 0) return
    this.#parts.budget.release(call.admitted.token?.id, bytes)
    this.#inFlightBytes[call.transport].value -= bytes
    call.reservedBytes -= bytes
  }

  #begin(call: ExportCall): void {
    this.#inFlightCalls += 1
    const { trustedHeaders, timesCalls, clock } = this.#parts
    call.trusted = trustedHeaders(call.admitted)
    if (timesCalls) call.sentAtMs = clock.monotonicMs()
  }

  #end(call: ExportCall): void {
    this.abandon(call)
    this.#inFlightCalls -= 1
    if (this.#inFlightCalls === 0) this.#onIdle?.()
  }

  #sendBuffered(call: ExportCall, body: Uint8Array): Promise<Answer> {
    const { token } = call.admitted
    const isAttributed = this.#parts.attributesResources && token !== undefined
    return isAttributed ? this.#sendAttributed(call, token, body) : this.#forward(call, body)
  }

  async #sendAttributed(call: ExportCall, token: TokenRecord, body: Uint8Array): Promise<Answer> {
    const attributed = await attributeBody({ ...call, bytes: body }, token, this.#parts.maxBodyBytes)
    if (attributed.kind === 'refused') return gatewayRefusal(attributed.refusal, 'rejected', undefined, call.encoding)
    const { bytes, contentEncoding } = attributed
    const sent: ExportCall = { ...call, contentEncoding, declaredBytes: bytes.length }
    call.onClientGone = () => sent.onClientGone?.()
    return this.#forward(sent, bytes)
  }

  /** Passes a body to the coalescer or upstream. Not an async function: for small requests each promise counts. */
  #forward(call: ExportCall, body: Uint8Array): Promise<Answer> {
    const { coalescer, upstreamOf, clock } = this.#parts
    const upstream = upstreamOf(call.admitted)
    if (coalescer?.accepts(call, body.length)) return coalescer.submit(call, body, upstream)
    return upstream.send({
      signal: call.signal,
      encoding: call.encoding,
      contentEncoding: call.contentEncoding,
      headers: call.headers.concat(call.trusted),
      body,
      contentLength: body.length,
      deadlineMs: upstreamDeadlineMs(call, clock.monotonicMs()),
      onAbortable: (abort) => {
        call.onClientGone = abort
      },
    })
  }

  #settle(call: ExportCall, wireBytes: number): void {
    const { limiter, clock, metrics } = this.#parts
    const { token } = call.admitted
    if (token === undefined) return
    metrics.tokenUsed(token, call.signal, wireBytes, clock.nowMs())
    // Over gRPC the length becomes known with the first byte of the body, so nothing has been charged before.
    const moreBytes = wireBytes - (call.transport === 'grpc' ? 0 : (call.declaredBytes ?? 0))
    if (token.limits !== undefined && moreBytes > 0) limiter.settle(token, call.signal, moreBytes, clock.nowMs())
  }

  /** Counts the bytes of a stream, and keeps the beginning if the readiness report needs it. */
  #measured(call: ExportCall, body: Readable): { stream: Readable; bytes(): number } {
    const { sample } = call.admitted
    const kept: Uint8Array[] = []
    let bytes = 0
    const stream = new Transform({
      transform: (chunk: Uint8Array, _encoding, done) => {
        if (sample !== undefined && bytes < SAMPLE_BYTES) kept.push(chunk)
        bytes += chunk.length
        done(null, chunk)
      },
      flush: (done) => {
        if (sample !== undefined) setImmediate(() => this.#reportSample(call, sample, Buffer.concat(kept)))
        done()
      },
    })
    body.once('error', (error) => stream.destroy(error))
    // The body may fail before upstream listens to its errors, and an error without a listener would end the process.
    stream.on('error', () => {})
    stream.once('close', () => {
      if (!body.readableEnded) body.unpipe(stream)
    })
    return { stream: body.pipe(stream), bytes: () => bytes }
  }

  #reportSample(call: ExportCall, sample: AdmissionRequest, body: Uint8Array): void {
    setImmediate(() => {
      this.#parts.clientStats.recordBody(sample, body.subarray(0, SAMPLE_BYTES), call.contentEncoding)
    })
  }

  #internalError(error: unknown): Answer {
    this.#parts.log.error({ event: 'export.failed', err: error }, 'an export failed inside the gateway')
    const message = 'The gateway failed to forward this request.'
    return gatewayRefusal({ kind: 'internal', message }, 'throttled', this.#parts.random)
  }
}
