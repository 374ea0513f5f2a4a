import type { ExportCall } from '../contract/export-call.ts'
import type { TokenRecord } from '../contract/token-record.ts'
import type { Upstream } from '../contract/upstream.ts'
import { Lane, laneKey } from './lane.ts'

/** The highest number of lanes per upstream. Idle lanes are dropped to make room. */
const MAX_LANES = 4_096

/** The lanes in use, by upstream and key. */
export class Lanes {
  readonly #maxBytes: number
  readonly #byUpstream = new Map<Upstream, Map<string, Lane>>()
  /** The lane that each token used last. It is tried first, because most calls of a token are alike. */
  readonly #lastOfToken = new WeakMap<TokenRecord, Lane>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Returns the lane of a call. Returns `undefined` if there are too many lanes; the body is then sent alone. */
  laneOf(call: ExportCall, upstream: Upstream, nowMs: number): Lane | undefined {
    const { token } = call.admitted
    const last = token && this.#lastOfToken.get(token)
    if (last?.matches(call, upstream)) return last
    const lane = this.#find(call, upstream, nowMs)
    if (token !== undefined && lane !== undefined) this.#lastOfToken.set(token, lane)
    return lane
  }

  #find(call: ExportCall, upstream: Upstream, nowMs: number): Lane | undefined {
    let lanes = this.#byUpstream.get(upstream)
    if (lanes === undefined) {
      lanes = new Map()
      this.#byUpstream.set(upstream, lanes)
    }
    const key = laneKey(call)
    const known = lanes.get(key)
    if (known !== undefined) return known
    if (lanes.size >= MAX_LANES && !dropIdle(lanes, nowMs)) return undefined
    const made = new Lane(key, call, upstream, Math.min(this.#maxBytes, Math.floor(upstream.bodyLimitBytes / 2)))
    lanes.set(key, made)
    return made
  }
}

/**
 * Drops all idle lanes among the oldest half. Because it usually drops many, it is rarely called. Returns whether there
 * is room for a new lane.
 */
function dropIdle(lanes: Map<string, Lane>, nowMs: number): boolean {
  let left = MAX_LANES / 2
  for (const lane of lanes.values()) {
    if (left === 0) break
    left -= 1
    if (lane.isIdle(nowMs)) lanes.delete(lane.key)
  }
  return lanes.size < MAX_LANES
}
