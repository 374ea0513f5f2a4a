import { type Circuit, untriedCircuit } from './circuit.ts'

export interface LaneState {
  circuit: Circuit
  /** Batches. */
  underWay: number
}

/** Lanes that are remembered, unless more have something under way. One that is forgotten is tried anew. */
const MAX_LANES = 4_096

/** What a process knows of the lanes that it serves. */
export class LaneStates {
  /** Whoever was used last stands last. */
  readonly #states = new Map<string, LaneState>()

  find(lane: string): LaneState | undefined {
    return this.#states.get(lane)
  }

  /** To be used now. */
  of(lane: string): LaneState {
    const state = this.#states.get(lane) ?? { circuit: untriedCircuit, underWay: 0 }
    this.#states.delete(lane)
    if (this.#states.size >= MAX_LANES) this.#forgetOne()
    this.#states.set(lane, state)
    return state
  }

  #forgetOne(): void {
    for (const [lane, { underWay }] of this.#states) {
      if (underWay > 0) continue
      this.#states.delete(lane)
      return
    }
  }
}
