import { PingLimit } from './ping-limit.ts'
import { RateLimit } from './rate-limit.ts'

/** The frames that an answer allows its client: an update of both windows, and a ping with which clients measure the delay of what they receive. */
const FRAMES_PER_ANSWER = 3

/**
 * Limits the frames with which a client makes work without a request. The numbers are those of nghttp2; exceeding one of
 * them ends the connection with ENHANCE_YOUR_CALM.
 */
export class SessionLimits {
  /**
   * Streams that end by RST_STREAM, of the client or of the gateway. A stream that was reset is not open any more, so the limit
   * of open streams does not bound the work for such streams.
   */
  readonly #resets = new RateLimit(1_000, 33)
  /** SETTINGS, PRIORITY, WINDOW_UPDATE, PING and empty DATA together. */
  readonly #idleFrames = new RateLimit(10_000, 330)
  readonly #pings = new PingLimit()

  streamBegan(): void {
    this.#pings.streamBegan()
  }

  /** The gateway has sent a DATA frame. */
  answered(): void {
    this.#idleFrames.allow(FRAMES_PER_ANSWER)
  }

  isResetExceeded(monotonicMs: number): boolean {
    return this.#resets.isExceededAt(monotonicMs)
  }

  /** Records a frame that transfers nothing of a request. */
  isFrameExceeded(monotonicMs: number): boolean {
    return this.#idleFrames.isExceededAt(monotonicMs)
  }

  /** Records a ping in addition (P-26). */
  isPingExceeded(monotonicMs: number, hasStreams: boolean): boolean {
    return this.#pings.isExceededAt(monotonicMs, hasStreams)
  }
}
