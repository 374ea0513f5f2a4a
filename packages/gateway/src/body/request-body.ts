import type { Ingest, RefusableBody } from '../admission/ingest.ts'
import type { Answer } from '../contract/answer.ts'
import type { ExportCall } from '../contract/export-call.ts'
import type { Refusal } from '../contract/refusals.ts'
import type { Transport } from '../contract/transport.ts'
import { BodyBuffer } from './body-buffer.ts'
import { BodyStream, BrokenBody } from './body-stream.ts'
import { InflatedSizeCheck, type InflationRules, uninspectedBytes } from './inflated-size-check.ts'

/** The name of a request's bytes in the refusals of each protocol. */
const bodyNouns: Readonly<Record<Transport, string>> = { http: 'body', grpc: 'message' }

export function tooLarge(maxBodyBytes: number, transport: Transport): Refusal {
  const noun = bodyNouns[transport]
  return { kind: 'body_too_large', message: `The ${noun} is longer than ${maxBodyBytes} bytes, as sent or inflated.` }
}

/** Receives the events of a request body. */
export interface BodyOwner {
  /** The body was passed to the gate, which releases the call's reservation when it answers. */
  bodySent(answer: Promise<Answer>): void
  /** The body is refused. Called at most once; the owner must then discard the body. */
  bodyRefused(refusal: Refusal): void
  /** The owner may pass more pieces after `take` returned false. */
  resumeBody(): void
}

/**
 * Passes the body of an admitted request to the gate, buffered or as a stream: the body of a request over HTTP, or the message of a
 * gRPC call. A body of unknown length is buffered first, and streamed if it becomes too long.
 */
export class RequestBody implements RefusableBody {
  readonly #call: ExportCall
  readonly #rules: InflationRules & { readonly ingest: Ingest }
  readonly #owner: BodyOwner
  /** Whether a body of which the declared length has arrived can no longer be refused for lack of memory, see `mayBeRefused`. */
  readonly #endsWithLength: boolean
  #wireBytes = 0
  readonly #maxBufferedBytes: number
  /** The buffered body; `undefined` if the body is streamed. */
  #buffered: BodyBuffer | undefined
  #stream: BodyStream | undefined
  #sizeCheck: InflatedSizeCheck | undefined
  #isSent = false
  #isEnded = false
  #isDiscarded = false
  #isReaderFull = false
  #isInflaterFull = false

  constructor(
    call: ExportCall,
    rules: InflationRules & { readonly ingest: Ingest },
    owner: BodyOwner,
    endsWithLength: boolean,
  ) {
    this.#endsWithLength = endsWithLength
    this.#call = call
    this.#rules = rules
    this.#owner = owner
    this.#maxBufferedBytes = rules.ingest.maxBufferedBytes(call)
    if ((call.declaredBytes ?? 1) <= this.#maxBufferedBytes) this.#buffered = new BodyBuffer(call.declaredBytes)
  }

  get wireBytes(): number {
    return this.#wireBytes
  }

  get isPaused(): boolean {
    return this.#isReaderFull || this.#isInflaterFull
  }

  /** Adds a piece. Returns false if the caller must wait for `resumeBody`. */
  take(piece: Uint8Array): boolean {
    this.#wireBytes += piece.length
    const refusal = this.#refusal(piece.length)
    if (refusal !== undefined) this.#owner.bodyRefused(refusal)
    else if (this.#buffered === undefined) this.#forward(piece)
    else this.#buffer(this.#buffered, piece)
    return !this.isPaused
  }

  /** Lets a body be refused for lack of memory that arrived with one piece, but has not ended yet. */
  mayBeRefused(): void {
    if (this.#wireBytes > 0) this.#rules.ingest.reserveArrived(this.#call, 0, this)
  }

  refuseBody(refusal: Refusal): void {
    this.#owner.bodyRefused(refusal)
  }

  end(): void {
    this.#isEnded = true
    this.#rules.ingest.bodyEnded(this.#call)
    if (this.#buffered !== undefined) this.#check(this.#buffered.bytes())
    else if (this.#sizeCheck !== undefined) this.#sizeCheck.end()
    else this.#stream?.complete()
  }

  /** Releases the body. A stream that is not complete fails, so that upstream never sees it as complete. */
  discard(why: string): void {
    this.#isDiscarded = true
    this.#sizeCheck?.cancel()
    this.#buffered = undefined
    if (this.#stream !== undefined && !this.#stream.readableEnded) this.#stream.destroy(new BrokenBody(why))
    if (!this.#isSent) this.#rules.ingest.abandon(this.#call)
    this.#unblock()
  }

  #refusal(bytes: number): Refusal | undefined {
    const { ingest, maxBodyBytes } = this.#rules
    if (this.#wireBytes > maxBodyBytes) return tooLarge(maxBodyBytes, this.#call.transport)
    const isWhole = this.#endsWithLength && bytes === this.#call.declaredBytes
    return isWhole ? ingest.reserve(this.#call, bytes) : ingest.reserveArrived(this.#call, bytes, this)
  }

  #buffer(buffer: BodyBuffer, piece: Uint8Array): void {
    buffer.add(piece)
    if (this.#wireBytes <= this.#maxBufferedBytes) return
    this.#buffered = undefined
    this.#forward(buffer.bytes())
  }

  #forward(piece: Uint8Array): void {
    const stream = this.#stream ?? this.#open()
    // Upstream has answered early and stopped reading.
    if (stream.destroyed) return
    if (this.#sizeCheck?.write(piece) === false) this.#isInflaterFull = true
    if (!stream.add(piece)) this.#isReaderFull = true
  }

  /** Opens the stream to upstream with the first piece to be sent. */
  #open(): BodyStream {
    const { ingest, maxBodyBytes } = this.#rules
    const isInspected = (this.#call.declaredBytes ?? maxBodyBytes) > uninspectedBytes(this.#call, this.#rules)
    const onReaderReady = () => {
      if (!this.#isReaderFull) return
      this.#isReaderFull = false
      this.#resume()
    }
    const onReaderGone = () => {
      this.#sizeCheck?.cancel()
      this.#unblock()
    }
    const stream = new BodyStream({ onReaderReady, onReaderGone }, isInspected)
    this.#stream = stream
    if (isInspected) this.#sizeCheck = this.#createSizeCheck(() => stream.complete())
    this.#send(ingest.sendStream(this.#call, stream))
    return stream
  }

  #check(body: Uint8Array): void {
    const send = () => this.#send(this.#rules.ingest.sendBuffered(this.#call, body))
    if (body.length <= uninspectedBytes(this.#call, this.#rules)) {
      send()
      return
    }
    this.#sizeCheck = this.#createSizeCheck(send)
    this.#sizeCheck.write(body)
    this.#sizeCheck.end()
  }

  #send(answer: Promise<Answer>): void {
    this.#isSent = true
    this.#buffered = undefined
    this.#owner.bodySent(answer)
  }

  #createSizeCheck(fits: () => void): InflatedSizeCheck {
    const { contentEncoding, transport } = this.#call
    const { maxBodyBytes } = this.#rules
    return new InflatedSizeCheck(contentEncoding, maxBodyBytes, {
      onDrained: () => {
        this.#isInflaterFull = false
        this.#resume()
      },
      onVerdict: (verdict) => {
        if (this.#isDiscarded) return
        if (verdict === 'fits') fits()
        else if (verdict === 'too_large') this.#owner.bodyRefused(tooLarge(maxBodyBytes, transport))
        else {
          const message = `The ${bodyNouns[transport]} is not valid ${contentEncoding}.`
          this.#owner.bodyRefused({ kind: 'bad_body', message })
        }
      },
    })
  }

  /** Resumes reading, because nothing consumes the body any more. */
  #unblock(): void {
    if (!this.isPaused) return
    this.#isReaderFull = false
    this.#isInflaterFull = false
    this.#resume()
  }

  #resume(): void {
    if (!this.isPaused && !this.#isEnded) this.#owner.resumeBody()
  }
}
