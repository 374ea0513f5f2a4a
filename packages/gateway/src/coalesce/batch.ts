import { gatewayRefusal } from '../contract/gateway-answers.ts'
import type { Upstream } from '../contract/upstream.ts'
import type { Lane } from './lane.ts'
import type { Member } from './member.ts'

/** The bodies of one upstream request. */
export class Batch {
  readonly upstream: Upstream
  /** `undefined` for a body that must be sent alone. */
  readonly lane: Lane | undefined
  readonly members: readonly Member[]
  /** The total size of all bodies. */
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

  /** Whether every member has been settled. */
  get isSettled(): boolean {
    return this.#waiting === 0
  }

  /** Counts a settled member, and aborts the upstream request when the last one is settled. */
  memberSettled(): void {
    this.#waiting -= 1
    if (this.#waiting === 0) this.#abort?.()
  }

  /** Records that upstream has answered, so that the request is no longer aborted. */
  markAnswered(): void {
    this.#abort = undefined
  }

  /** Settles members that have passed their deadline, and returns the next deadline. */
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
