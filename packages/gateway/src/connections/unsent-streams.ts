import { constants } from 'node:http2'
import { UNSENT_MS } from './discard-limits.ts'

/** The limit on the bytes of all answers that node:http2 keeps until their clients accept them. */
const MAX_UNSENT_BYTES = 32 * 1024 * 1024

/** The part of a stream of node:http2 that the limits use. `writableLength` are the bytes that its client has not accepted. */
interface WaitingStream {
  readonly writableEnded: boolean
  readonly writableLength: number
  close(code: number): void
  once(event: 'close', listener: () => void): unknown
}

/**
 * Limits the time and the bytes of answers that clients of node:http2 do not accept. It is swept once a second; the gateway's own HTTP/2
 * sessions have the same limits.
 */
export class UnsentStreams {
  readonly #maxBytes: number
  /** The open streams, oldest first, with the time since which their complete answers have been waiting. */
  readonly #waitingSinceMs = new Map<WaitingStream, number | undefined>()

  constructor(maxBytes: number = MAX_UNSENT_BYTES) {
    this.#maxBytes = maxBytes
  }

  add(stream: WaitingStream): void {
    this.#waitingSinceMs.set(stream, undefined)
    stream.once('close', () => this.#waitingSinceMs.delete(stream))
  }

  /** Resets the streams that wait for too long, and those that exceed the limit of bytes, the newest ones first. */
  sweep(nowMs: number): void {
    let bytes = 0
    for (const [stream, sinceMs] of this.#waitingSinceMs) {
      if (!stream.writableEnded) continue
      if (sinceMs === undefined) this.#waitingSinceMs.set(stream, nowMs)
      bytes += stream.writableLength
      const isLate = sinceMs !== undefined && nowMs - sinceMs >= UNSENT_MS
      if (!isLate && bytes <= this.#maxBytes) continue
      bytes -= stream.writableLength
      stream.close(isLate ? constants.NGHTTP2_CANCEL : constants.NGHTTP2_ENHANCE_YOUR_CALM)
    }
  }
}
