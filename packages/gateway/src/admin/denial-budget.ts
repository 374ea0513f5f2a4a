interface BudgetSize {
  /** The number of actions that one name may take at the same time. */
  readonly burst: number
  readonly perMinute: number
  /** The number of names that are remembered. Beyond it, the name that has not been used for longest is forgotten. */
  readonly names: number
}

/** Limits how often each name may do something, in bounded memory. */
export class DenialBudget {
  readonly #size: BudgetSize
  readonly #intervalMs: number
  /** The monotonic time at which the budget of each name is full again, least recently used name first. */
  readonly #fullAtMs = new Map<string, number>()

  constructor(size: BudgetSize) {
    this.#size = size
    this.#intervalMs = 60_000 / size.perMinute
  }

  /** Takes one action from the budget and returns 0, or returns the milliseconds until the next one is available. */
  take(name: string, atMs: number): number {
    const { burst, names } = this.#size
    const fullAtMs = Math.max(this.#fullAtMs.get(name) ?? atMs, atMs)
    const waitMs = fullAtMs + this.#intervalMs - (atMs + burst * this.#intervalMs)
    this.#fullAtMs.delete(name)
    this.#fullAtMs.set(name, waitMs > 0 ? fullAtMs : fullAtMs + this.#intervalMs)
    if (this.#fullAtMs.size > names) this.#fullAtMs.delete(this.#fullAtMs.keys().next().value as string)
    return Math.max(0, waitMs)
  }
}
