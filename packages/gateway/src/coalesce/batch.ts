import type { Answer } from '../ingest/answer.ts'
import type { ExportCall } from '../ingest/export-call.ts'
import { clientGone, gatewayRefusal } from '../ingest/gateway-answers.ts'
import type { Upstream } from '../upstream/upstream.ts'
import type { Lane } from './lane.ts'

/** One body on its way through the coalescer, until its answer. */
export class Member {
  readonly call: ExportCall
  /** As it arrived. */
  readonly body: Uint8Array
  readonly deadlineMs: number
  /** The body in identity coding, once it is known to be nothing but records. */
  records: Uint8Array | undefined = undefined
  batch: Batch | undefined = undefined
  isSettled = false
  readonly #resolve: (answer: Answer) => void
  readonly #onSettled: () => void

  constructor(
    call: ExportCall,
    body: Uint8Array,
    deadlineMs: number,
    resolve: (answer: Answer) => void,
    onSettled: () => void,
  ) {
    this.call = call
    this.body = body
    this.deadlineMs = deadlineMs
    this.#resolve = resolve
    this.#onSettled = onSettled
    call.onClientGone = () => this.settle(clientGone)
  }

  /** Once; what comes later is of no interest to anybody. */
  settle(answer: Answer): void {
    if (this.isSettled) return
    this.isSettled = true
    this.call.onClientGone = undefined
    this.#resolve(answer)
    this.#onSettled()
    this.batch?.lost()
  }
}

/** Bodies that travel in one upstream request. */
export class Batch {
  readonly upstream: Upstream
  /** `undefined` for a body that may not travel with others. */
  readonly lane: Lane | undefined
  readonly members: readonly Member[]
  /** Of all members together. */
  readonly bytes: number
  readonly firstDeadlineMs: number
  readonly lastDeadlineMs: number
  #nextDeadlineMs: number
  #waiting: number
  #abort: (() => void) | undefined = undefined

  constructor(upstream: Upstream, lane: Lane | undefined, members: readonly Member[]) {
    this.upstream = upstream
    this.lane = lane
    this.members = members
    this.#waiting = members.length
    let bytes = 0
    let firstMs = Number.POSITIVE_INFINITY
    let lastMs = 0
    for (const member of members) {
      member.batch = this
      bytes += member.records?.length ?? member.body.length
      if (member.deadlineMs < firstMs) firstMs = member.deadlineMs
      if (member.deadlineMs > lastMs) lastMs = member.deadlineMs
    }
    this.bytes = bytes
    this.firstDeadlineMs = firstMs
    this.#nextDeadlineMs = firstMs
    this.lastDeadlineMs = lastMs
  }

  onAbortable(abort: () => void): void {
    this.#abort = abort
  }

  /** Nobody waits for an answer any more. */
  get isLost(): boolean {
    return this.#waiting === 0
  }

  /** A member waits no longer; without any the request has no purpose. */
  lost(): void {
    this.#waiting -= 1
    if (this.#waiting === 0) this.#abort?.()
  }

  /** An answer is there: nothing is left to give up. */
  arrived(): void {
    this.#abort = undefined
  }

  /** Gives up waiting for those whose time is over; the rest go on. Returns when the next one's is. */
  expire(nowMs: number): number {
    if (this.#nextDeadlineMs > nowMs) return this.#nextDeadlineMs
    let nextMs = Number.POSITIVE_INFINITY
    for (const member of this.members) {
      if (member.deadlineMs <= nowMs) member.settle(tooSlow)
      else if (!member.isSettled && member.deadlineMs < nextMs) nextMs = member.deadlineMs
    }
    this.#nextDeadlineMs = nextMs
    return nextMs
  }
}

const tooSlow = gatewayRefusal({ kind: 'upstream_slow', message: 'the upstream did not answer in time' }, 'unknown')
