import type { ExportCall } from '../ingest/export-call.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { Batch, type Member } from './batch.ts'

/** How long we remember that upstream has found a batch too large. */
const CAP_FORGOTTEN_MS = 600_000

/**
 * What must agree for two bodies to travel together (C-1). Exact, since no part can hold a line feed: no hash can
 * collide, and two owners never meet. The headers that we add follow from the token.
 */
export function laneKey(call: ExportCall): string {
  const { token } = call.admitted
  return `${call.transport}\n${call.signal}\n${token?.id}\n${token?.tenant ?? ''}\n${call.headers.join('\n')}`
}

/** Bodies of one key: those that wait for company, and what is known of upstream's mood. */
export class Lane {
  readonly key: string
  readonly upstream: Upstream
  /** The call it was made for. */
  readonly #first: Pick<ExportCall, 'transport' | 'signal' | 'headers' | 'admitted'>
  /** Upstream requests not yet answered. */
  underWay = 0
  waiting: Member[] = []
  waitingBytes = 0
  /** When those that wait go even without an answer to another. */
  dueMs = Number.POSITIVE_INFINITY
  /** Until then upstream wants to be left alone. */
  heldUntilMs = 0
  /** Until then everyone goes alone. */
  pausedUntilMs = 0
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

  /** Whether the call has this lane's key, at the price of comparing instead of making it. */
  takes({ transport, signal, headers, admitted }: ExportCall, upstream: Upstream): boolean {
    const first = this.#first
    const { token } = admitted
    if (upstream !== this.upstream || token?.id !== first.admitted.token?.id) return false
    if (token?.tenant !== first.admitted.token?.tenant) return false
    if (transport !== first.transport || signal !== first.signal || headers.length !== first.headers.length)
      return false
    for (let at = 0; at < headers.length; at += 1) if (headers[at] !== first.headers[at]) return false
    return true
  }

  /** Largest batch that is sent (C-6). */
  capBytes(nowMs: number): number {
    if (this.#lowered !== undefined && this.#lowered.untilMs <= nowMs) this.#lowered = undefined
    return this.#lowered?.bytes ?? this.#fullBytes
  }

  /** Upstream has found so many bytes too large. */
  lowerCap(bytes: number, nowMs: number): void {
    const halved = Math.floor(Math.min(bytes, this.capBytes(nowMs)) / 2)
    this.#lowered = { bytes: halved, untilMs: nowMs + CAP_FORGOTTEN_MS }
  }

  /** Whether forgetting it changes nothing. */
  isIdle(nowMs: number): boolean {
    const isQuiet = this.underWay === 0 && this.waiting.length === 0
    return (
      isQuiet && this.heldUntilMs <= nowMs && this.pausedUntilMs <= nowMs && this.capBytes(nowMs) === this.#fullBytes
    )
  }

  add(member: Member, bytes: number): void {
    this.waiting.push(member)
    this.waitingBytes += bytes
  }

  /** Those that wait and still want an answer; nobody waits afterwards. */
  take(): Member[] {
    const taken = this.waiting
    this.waiting = []
    this.waitingBytes = 0
    this.dueMs = Number.POSITIVE_INFINITY
    return taken.some((member) => member.isSettled) ? taken.filter((member) => !member.isSettled) : taken
  }

  batchOf(members: readonly Member[]): Batch {
    return new Batch(this.upstream, this, members)
  }
}
