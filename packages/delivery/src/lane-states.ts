import { type Circuit, untriedCircuit } from './circuit.ts'

export interface LaneState {
  circuit: Circuit
  /** Batches. */
  underWay: number
}

/** Lanes with nothing open that are remembered: most are soon used again. */
const MOST_IDLE = 256

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
    this.#states.set(lane, state)
    return state
  }

  /** Of the lanes that are not `open`, all but the latest. */
  forgetIdle(open: ReadonlySet<string>): void {
    const idle = [...this.#states].filter(([lane, { underWay }]) => underWay === 0 && !open.has(lane))
    for (const [lane] of idle.slice(0, -MOST_IDLE)) this.#states.delete(lane)
  }
}
