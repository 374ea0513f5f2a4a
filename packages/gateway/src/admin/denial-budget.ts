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
  readonly #wholeAtMs = new Map<string, number>()

  constructor(size: BudgetSize) {
    this.#size = size
    this.#intervalMs = 60_000 / size.perMinute
  }

  /** Takes one, or returns how many milliseconds remain until there is one to take. 0: taken. */
  take(name: string, nowMs: number): number {
    const { burst, names } = this.#size
    const remembered = this.#wholeAtMs.get(name) ?? nowMs
    // Further ahead than a spent budget can be: the clock was put back.
    const isBeforeItsTime = remembered > nowMs + burst * this.#intervalMs
    const wholeAtMs = isBeforeItsTime ? nowMs : Math.max(remembered, nowMs)
    const waitMs = wholeAtMs + this.#intervalMs - (nowMs + burst * this.#intervalMs)
    this.#wholeAtMs.delete(name)
    this.#wholeAtMs.set(name, waitMs > 0 ? wholeAtMs : wholeAtMs + this.#intervalMs)
    if (this.#wholeAtMs.size > names) this.#wholeAtMs.delete(this.#wholeAtMs.keys().next().value as string)
    return Math.max(0, waitMs)
  }
}
