import { Readable } from 'node:stream'
import type { Clock } from '@penstock/runtime'
import { heartbeatText, positionText, retryText } from './event-stream.ts'

export interface LiveLimits {
  /** The streams of one caller. Default 10. */
  readonly maxPerCaller: number
  /** The streams of all callers. Default 100. */
  readonly maxStreams: number
  /** The interval of heartbeats, at which callers are admitted again. Default 5 s. */
  readonly heartbeatMs: number
  /** The pause after items were sent, so that a busy store is not asked all the time. Default 500 ms. */
  readonly pauseMs: number
}

export const defaultLiveLimits: LiveLimits = { maxPerCaller: 10, maxStreams: 100, heartbeatMs: 5_000, pauseMs: 500 }

/** The events after a position. */
export interface LiveBatch {
  /** The text of the events; empty if there are none. */
  readonly text: Uint8Array
  /** The cursor of the position after them. */
  readonly position: string
  /** Whether more may follow at once. */
  readonly hasMore: boolean
}

export interface LiveSource {
  /** Returns the events after a position; without one, no events and the current position. */
  read(after: string | undefined): Promise<LiveBatch>
  /** Throws if the caller may not read any more. */
  readmit(): Promise<void>
}

/** The access of a stream's caller. */
interface Admission {
  isValid(): Promise<boolean>
  /** Destroys the stream. */
  revoke(): void
}

/** The reason why a stream cannot be opened. */
export type LiveRefusal = 'too_many_of_caller' | 'too_many' | 'closed'

/** How long clients wait before they connect again. */
const RETRY_MS = 3_000
/** How much of a response waits for a slow client. Nothing is read from the store in between. */
const BUFFER_BYTES = 64 * 1024

/**
 * The open streams of live updates. A stream reads from the store only when something has arrived and the client has taken what
 * was sent before, so a slow client costs two batches of memory: one in the stream, and one in the response that it is piped to.
 */
export class LiveStreams {
  readonly #clock: Clock
  readonly #limits: LiveLimits
  readonly #open = new Map<AbortController, string>()
  readonly #waiting = new Set<() => void>()
  #arrivals = 0
  #isClosed = false

  constructor(clock: Clock, limits: Partial<LiveLimits> = {}) {
    this.#clock = clock
    this.#limits = { ...defaultLiveLimits, ...limits }
  }

  get size(): number {
    return this.#open.size
  }

  /** Wakes the streams, because something was stored. */
  notify(): void {
    this.#arrivals += 1
    for (const wake of [...this.#waiting]) wake()
  }

  /** Ends all streams, and refuses further ones. */
  close(): void {
    this.#isClosed = true
    for (const ending of this.#open.keys()) ending.abort()
  }

  refusal(caller: string): LiveRefusal | undefined {
    if (this.#isClosed) return 'closed'
    if (this.#open.size >= this.#limits.maxStreams) return 'too_many'
    const ofCaller = [...this.#open.values()].filter((other) => other === caller).length
    return ofCaller >= this.#limits.maxPerCaller ? 'too_many_of_caller' : undefined
  }

  /**
   * Opens a stream, which `refusal` must have allowed. It ends by itself, or when its reader destroys it. If the caller loses its
   * access, the stream is destroyed, so that a slow reader does not get what is buffered.
   */
  open(caller: string, source: LiveSource, after: string | undefined): Readable {
    const ending = new AbortController()
    this.#open.set(ending, caller)
    const closed = new AbortController()
    const admission: Admission = {
      isValid: () => isAdmitted(source),
      revoke() {
        // The generator may be waiting for an arrival, and the stream closes only after it.
        ending.abort()
        stream.destroy()
      },
    }
    const stream = Readable.from(this.#textOf(source, after, admission, ending.signal), {
      objectMode: false,
      highWaterMark: BUFFER_BYTES,
    })
    stream.once('close', () => {
      this.#open.delete(ending)
      ending.abort()
      closed.abort()
    })
    void this.#checkAdmission(admission, closed.signal)
    return stream
  }

  async *#textOf(
    source: LiveSource,
    after: string | undefined,
    admission: Admission,
    ending: AbortSignal,
  ): AsyncGenerator<string | Uint8Array> {
    yield retryText(RETRY_MS)
    let position = after
    let seen = -1
    while (!ending.aborted) {
      if (seen === this.#arrivals) yield heartbeatText
      seen = this.#arrivals
      const batch = await source.read(position).catch(() => undefined)
      // The store cannot answer at the moment. The client comes back and resumes.
      if (batch === undefined || ending.aborted) return
      if (batch.text.length > 0) {
        // The caller may have lost its access during the query.
        if (!(await admission.isValid())) return admission.revoke()
        yield batch.text
      } else if (position !== batch.position) yield positionText(batch.position)
      position = batch.position
      if (batch.hasMore) continue
      if (batch.text.length > 0) await this.#clock.sleep(this.#limits.pauseMs, ending).catch(() => {})
      await this.#arrivalOrHeartbeat(seen, ending)
    }
  }

  /** Checks the caller's access at every heartbeat, also while the generator waits for a slow reader, until the stream is closed. */
  async #checkAdmission(admission: Admission, closed: AbortSignal): Promise<void> {
    while (!closed.aborted) {
      await this.#clock.sleep(this.#limits.heartbeatMs, closed).catch(() => {})
      if (closed.aborted) return
      if (!(await admission.isValid())) return admission.revoke()
    }
  }

  /** Resolves when something has arrived since, at the next heartbeat, or at the end of the stream. */
  async #arrivalOrHeartbeat(seen: number, ending: AbortSignal): Promise<void> {
    if (seen !== this.#arrivals || ending.aborted) return
    const waiting = new AbortController()
    const wake = () => waiting.abort()
    this.#waiting.add(wake)
    ending.addEventListener('abort', wake, { once: true })
    await this.#clock.sleep(this.#limits.heartbeatMs, waiting.signal).catch(() => {})
    ending.removeEventListener('abort', wake)
    this.#waiting.delete(wake)
  }
}

const isAdmitted = (source: LiveSource): Promise<boolean> =>
  source.readmit().then(
    () => true,
    () => false,
  )
