import type { LaneState } from './lane-states.ts'

export interface PlaceRules {
  /** The highest number of batches in progress: in total, and per lane. */
  readonly concurrency: number
  readonly laneConcurrency: number
  /** How long a batch of a lane takes that is treated as slow. Default: no lane is slow. */
  readonly slowMs?: number
}

/**
 * The places for batches in progress. Half of them are reserved for lanes without a batch in progress, and slow lanes have at
 * most half of all places together, so that slow receivers cannot take every place.
 *
 *     |<------------------ concurrency ------------------>|
 *     |   any lane   |   first batch of a lane only       |
 *     |   slow lanes, at most half   |
 */
export class Places {
  readonly #rules: PlaceRules
  #taken = 0
  #takenBySlow = 0

  constructor(rules: PlaceRules) {
    this.#rules = rules
  }

  get isFull(): boolean {
    return this.#taken >= this.#rules.concurrency
  }

  /** Returns whether a lane may start a batch. A lane on probation has one at a time. */
  hasRoom({ inProgress, isSlow }: LaneState, isProbation: boolean): boolean {
    const { concurrency, laneConcurrency } = this.#rules
    if (isSlow && this.#takenBySlow >= concurrency / 2) return false
    if (inProgress === 0) return !this.isFull
    return !isProbation && inProgress < laneConcurrency && this.#taken < concurrency / 2
  }

  /** Takes a place for a batch of a lane. Returns a function that gives it back. */
  take(lane: LaneState): () => void {
    const slow = lane.isSlow ? 1 : 0
    lane.inProgress += 1
    this.#taken += 1
    this.#takenBySlow += slow
    return () => {
      lane.inProgress -= 1
      this.#taken -= 1
      this.#takenBySlow -= slow
    }
  }

  /** Stores how long the receiver of a lane took. */
  learn(lane: LaneState, tookMs: number): void {
    lane.isSlow = tookMs >= (this.#rules.slowMs ?? Number.POSITIVE_INFINITY)
  }
}
