export interface BudgetSize {
  /** So many at once, of one name. */
  readonly burst: number
  readonly perMinute: number
  /** How many names are remembered; beyond them the longest unseen is forgotten. */
  readonly names: number
}

/** How often each of many may do something, in memory that does not grow with what arrives. */
export class DenialBudget {
  readonly #size: BudgetSize
  readonly #intervalMs: number
  /** Name → when its budget will be whole again, least lately seen first. */
  readonly #fullAtMs = new Map<string, number>()

  constructor(size: BudgetSize) {
    this.#size = size
    this.#intervalMs = 60_000 / size.perMinute
  }

  /** Takes one, or returns how many milliseconds remain until there is one to take. 0: taken. */
  take(name: string, nowMs: number): number {
    const { burst, names } = this.#size
    const stored = this.#fullAtMs.get(name) ?? nowMs
    // Further ahead than a spent budget can be: the clock was put back.
    const isClockSetBack = stored > nowMs + burst * this.#intervalMs
    const fullAtMs = isClockSetBack ? nowMs : Math.max(stored, nowMs)
    const waitMs = fullAtMs + this.#intervalMs - (nowMs + burst * this.#intervalMs)
    this.#fullAtMs.delete(name)
    this.#fullAtMs.set(name, waitMs > 0 ? fullAtMs : fullAtMs + this.#intervalMs)
    if (this.#fullAtMs.size > names) this.#fullAtMs.delete(this.#fullAtMs.keys().next().value as string)
    return Math.max(0, waitMs)
  }
}
