import { type Circuit, untriedCircuit } from './circuit.ts'

export interface LaneState {
  circuit: Circuit
  /** The number of batches in progress. */
  inProgress: number
  /** Whether the receiver took long for its last batch. */
  isSlow: boolean
}

/**
 * The highest number of lanes in memory, unless more have batches in progress. An evicted lane
 * starts with an untried circuit.
 */
const MAX_LANES = 4_096

/** The state of each lane that a process serves. */
export class LaneStates {
  /** States in order of use, the most recent last. */
  readonly #states = new Map<string, LaneState>()

  find(lane: string): LaneState | undefined {
    return this.#states.get(lane)
  }

  /** Returns the state of a lane, and marks it as used now. */
  getOrCreate(lane: string): LaneState {
    const state = this.#states.get(lane) ?? { circuit: untriedCircuit, inProgress: 0, isSlow: false }
    this.#states.delete(lane)
    if (this.#states.size >= MAX_LANES) this.#evictOne()
    this.#states.set(lane, state)
    return state
  }

  #evictOne(): void {
    for (const [lane, { inProgress }] of this.#states) {
      if (inProgress > 0) continue
      this.#states.delete(lane)
      return
    }
  }
}
