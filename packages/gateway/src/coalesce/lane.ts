import type { ExportCall } from '../contract/export-call.ts'
import type { Upstream } from '../contract/upstream.ts'
import type { Member } from './member.ts'

/** How long the lane keeps a batch limit that was lowered because upstream found a batch too large. */
const LOWERED_CAP_TTL_MS = 600_000

/**
 * Returns the key that bodies must share to be joined (C-1). Its parts cannot contain a line feed, so different calls
 * never have the same key. It leaves out the headers that the gateway adds, because they follow from the token.
 */
export function laneKey(call: ExportCall): string {
  const { token } = call.admitted
  return `${call.transport}\n${call.signal}\n${token?.id}\n${token?.tenant ?? ''}\n${call.headers.join('\n')}`
}

/** The waiting bodies of one key, and the limits that upstream has imposed on them. */
export class Lane {
  readonly key: string
  readonly upstream: Upstream
  /** The fields of the call that the lane was created for. */
  readonly #first: Pick<ExportCall, 'transport' | 'signal' | 'headers' | 'admitted'>
  /** The number of unanswered upstream requests. */
  inFlight = 0
  waiting: Member[] = []
  waitingBytes = 0
  /** The time at which the waiting bodies are sent at the latest. */
  dueMs = Number.POSITIVE_INFINITY
  /** The lane refuses bodies until this time, because upstream throttles. */
  heldUntilMs = 0
  /** Each body is sent alone until this time. */
  pausedUntilMs = 0
  #expected = 0
  #expectedUntilMs = 0
  readonly #fullBytes: number
  #lowered: { readonly bytes: number; readonly untilMs: number } | undefined = undefined

  constructor(
    key: string,
    { transport, signal, headers, admitted }: ExportCall,
    upstream: Upstream,
    fullBytes: number,
  ) {
    this.#first = { transport, signal, headers, admitted }
    this.key = key
    this.upstream = upstream
    this.#fullBytes = fullBytes
  }

  /** Returns whether the call belongs to this lane, without building its key. */
  matches({ transport, signal, headers, admitted }: ExportCall, upstream: Upstream): boolean {
    const first = this.#first
    const { token } = admitted
    if (upstream !== this.upstream || token?.id !== first.admitted.token?.id) return false
    if (token?.tenant !== first.admitted.token?.tenant) return false
    if (transport !== first.transport || signal !== first.signal || headers.length !== first.headers.length)
      return false
    for (let at = 0; at < headers.length; at += 1) if (headers[at] !== first.headers[at]) return false
    return true
  }

  /** Returns the largest batch that may be sent (C-6). */
  capBytes(nowMs: number): number {
    if (this.#lowered !== undefined && this.#lowered.untilMs <= nowMs) this.#lowered = undefined
    return this.#lowered?.bytes ?? this.#fullBytes
  }

  /** Halves the batch limit after upstream has found a batch of `bytes` too large. */
  lowerCap(bytes: number, nowMs: number): void {
    const halved = Math.floor(Math.min(bytes, this.capBytes(nowMs)) / 2)
    this.#lowered = { bytes: halved, untilMs: nowMs + LOWERED_CAP_TTL_MS }
  }

  /** Returns whether the lane can be dropped without losing any state. */
  isIdle(nowMs: number): boolean {
    const isQuiet = this.inFlight === 0 && this.waiting.length === 0
    return (
      isQuiet && this.heldUntilMs <= nowMs && this.pausedUntilMs <= nowMs && this.capBytes(nowMs) === this.#fullBytes
    )
  }

  /** Makes the lane wait until `untilMs` for `bodies` bodies, including those that wait already. */
  expect(bodies: number, untilMs: number): void {
    this.#expected = bodies
    this.#expectedUntilMs = untilMs
  }

  get expectedUntilMs(): number {
    return this.#expectedUntilMs
  }

  /** Returns whether bodies need not wait: no request is in flight, and no further body is expected. */
  isReady(nowMs: number): boolean {
    return this.inFlight === 0 && (this.waiting.length >= this.#expected || nowMs >= this.#expectedUntilMs)
  }

  add(member: Member, bytes: number): void {
    this.waiting.push(member)
    this.waitingBytes += bytes
  }

  /** Removes all waiting members and returns those that are not settled yet. */
  take(): Member[] {
    const taken = this.waiting
    this.waiting = []
    this.waitingBytes = 0
    this.dueMs = Number.POSITIVE_INFINITY
    return taken.some((member) => member.isSettled) ? taken.filter((member) => !member.isSettled) : taken
  }
}
