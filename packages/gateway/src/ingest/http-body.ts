import type { Answer } from './answer.ts'
import { InflatedSizeCheck, type InflationRules, uninspectedBytes } from './inflated-size-check.ts'
import { type BodySource, BodyStream, BrokenBody } from './body-stream.ts'
import { BodyBuffer } from './body-buffer.ts'
import type { ExportCall } from './export-call.ts'
import { tooLarge } from './request-validator.ts'
import type { Ingest } from './ingest.ts'
import type { Refusal } from './refusals.ts'

/** Whose request it is. */
export interface BodyOwner {
  /** It has ended without a byte. */
  bodyEmpty(): void
  /** On its way; whoever has the answer gives back what the call holds. */
  bodySent(answer: Promise<Answer>): void
  /** At most once; the owner lets go of the body then. */
  bodyRefused(refusal: Refusal): void
  /** Read on, after `take` has said false. */
  resumeBody(): void
}

export interface BodyRules extends InflationRules {
  readonly ingest: Ingest
}

/**
 * The body of one admitted request on its way to the gate: held until it is complete, or streamed. A body of unknown
 * length is held first, and streamed if it becomes too long to be held.
 */
export class RequestBody implements BodySource {
  readonly #call: ExportCall
  readonly #rules: BodyRules
  readonly #owner: BodyOwner
  #wireBytes = 0
  readonly #maxHeldBytes: number
  /** `undefined` of a body that is passed on. */
  #whole: BodyBuffer | undefined
  #stream: BodyStream | undefined
  #sizeCheck: InflatedSizeCheck | undefined
  #isSent = false
  #isEnded = false
  #isDiscarded = false
  #isReaderFull = false
  #isInflaterFull = false

  constructor(call: ExportCall, rules: BodyRules, owner: BodyOwner) {
    this.#call = call
    this.#rules = rules
    this.#owner = owner
    this.#maxHeldBytes = rules.ingest.maxHeldBytes(call)
    if ((call.declaredBytes ?? 1) <= this.#maxHeldBytes) this.#whole = new BodyBuffer(call.declaredBytes)
  }

  get wireBytes(): number {
    return this.#wireBytes
  }

  get isPaused(): boolean {
    return this.#isReaderFull || this.#isInflaterFull
  }

  /** False: wait for `resumeBody`. */
  take(piece: Uint8Array): boolean {
    this.#wireBytes += piece.length
    const refusal = this.#refusal(piece.length)
    if (refusal !== undefined) this.#owner.bodyRefused(refusal)
    else if (this.#whole === undefined) this.#pass(piece)
    else this.#hold(this.#whole, piece)
    return !this.isPaused
  }

  end(): void {
    this.#isEnded = true
    if (this.#wireBytes === 0) this.#owner.bodyEmpty()
    else if (this.#whole !== undefined) this.#check(this.#whole.bytes())
    else if (this.#sizeCheck !== undefined) this.#sizeCheck.end()
    else this.#stream?.complete()
  }

  /** Nothing more will be taken. Upstream never gets the end of a body that has not come to its end. */
  discard(why: string): void {
    this.#isDiscarded = true
    this.#sizeCheck?.cancel()
    this.#whole = undefined
    if (this.#stream !== undefined && !this.#stream.readableEnded) this.#stream.destroy(new BrokenBody(why))
    if (!this.#isSent) this.#rules.ingest.abandon(this.#call)
    this.#unblock()
  }

  onReaderReady(): void {
    if (!this.#isReaderFull) return
    this.#isReaderFull = false
    this.#resume()
  }

  onReaderGone(): void {
    this.#sizeCheck?.cancel()
    this.#unblock()
  }

  #refusal(bytes: number): Refusal | undefined {
    const { ingest, maxBodyBytes } = this.#rules
    if (this.#wireBytes > maxBodyBytes) return tooLarge(maxBodyBytes)
    return this.#call.declaredBytes === undefined ? ingest.reserve(this.#call, bytes) : undefined
  }

  #hold(whole: BodyBuffer, piece: Uint8Array): void {
    whole.add(piece)
    if (this.#wireBytes <= this.#maxHeldBytes) return
    this.#whole = undefined
    this.#pass(whole.bytes())
  }

  #pass(piece: Uint8Array): void {
    const stream = this.#stream ?? this.#open()
    // Whoever read it has seen enough, and will say so.
    if (stream.destroyed) return
    if (this.#sizeCheck?.write(piece) === false) this.#isInflaterFull = true
    if (!stream.add(piece)) this.#isReaderFull = true
  }

  /** Nothing is asked of upstream before there is something to send. */
  #open(): BodyStream {
    const { ingest, maxBodyBytes } = this.#rules
    const isInspected = (this.#call.declaredBytes ?? maxBodyBytes) > uninspectedBytes(this.#call, this.#rules)
    const stream = new BodyStream(this, isInspected)
    this.#stream = stream
    if (isInspected) this.#sizeCheck = this.#createSizeCheck(() => stream.complete())
    this.#send(ingest.sendStream(this.#call, stream))
    return stream
  }

  #check(body: Uint8Array): void {
    const send = () => this.#send(this.#rules.ingest.sendWhole(this.#call, body))
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
    this.#whole = undefined
    this.#owner.bodySent(answer)
  }

  #createSizeCheck(fits: () => void): InflatedSizeCheck {
    const { contentEncoding } = this.#call
    const { maxBodyBytes } = this.#rules
    return new InflatedSizeCheck(contentEncoding, maxBodyBytes, {
      onDrained: () => {
        this.#isInflaterFull = false
        this.#resume()
      },
      onVerdict: (verdict) => {
        if (this.#isDiscarded) return
        if (verdict === 'fits') fits()
        else if (verdict === 'too_large') this.#owner.bodyRefused(tooLarge(maxBodyBytes))
        else this.#owner.bodyRefused({ kind: 'bad_body', message: `The body is not valid ${contentEncoding}.` })
      },
    })
  }

  /** Nobody is left who could be overwhelmed. */
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
