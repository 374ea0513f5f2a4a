import type { ExportCall } from '../ingest/export-call.ts'
import type { TokenRecord } from '../tokens/token-record.ts'
import type { Upstream } from '../upstream/upstream.ts'
import { Lane, laneKey } from './lane.ts'

/** Of one upstream; beyond it idle ones are forgotten. */
const MAX_LANES = 4_096

/** The lanes in use, by upstream and key. */
export class Lanes {
  readonly #maxBytes: number
  readonly #byUpstream = new Map<Upstream, Map<string, Lane>>()
  /** Most calls are like the one before of the same token. */
  readonly #lastOfToken = new WeakMap<TokenRecord, Lane>()

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** `undefined` when there is no room for another one: such a body goes alone. */
  laneOf(call: ExportCall, upstream: Upstream, nowMs: number): Lane | undefined {
    const { token } = call.admitted
    const last = token && this.#lastOfToken.get(token)
    if (last?.takes(call, upstream)) return last
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
    if (lanes.size >= MAX_LANES && !forgetIdle(lanes, nowMs)) return undefined
    const made = new Lane(key, call, upstream, Math.min(this.#maxBytes, Math.floor(upstream.bodyLimitBytes / 2)))
    lanes.set(key, made)
    return made
  }
}

/** The older half at most, so that this is rare. */
function forgetIdle(lanes: Map<string, Lane>, nowMs: number): boolean {
  let left = MAX_LANES / 2
  for (const lane of lanes.values()) {
    if (left === 0) break
    left -= 1
    if (lane.isIdle(nowMs)) lanes.delete(lane.key)
  }
  return lanes.size < MAX_LANES
}
