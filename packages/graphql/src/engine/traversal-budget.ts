/** Fragments are traversed at every place that spreads them. An operation that needs more steps is treated as too complex. */
const MAX_STEPS = 100_000

/** The error that stops measuring an operation. */
export class TraversalBudgetExceeded extends Error {
  override readonly name = 'TraversalBudgetExceeded'
  readonly steps = MAX_STEPS
}

/** Limits the work of measuring one operation, by the number of selections that are visited. */
export class TraversalBudget {
  #steps = 0

  /** @throws TraversalBudgetExceeded */
  spend(): void {
    this.#steps += 1
    if (this.#steps > MAX_STEPS) throw new TraversalBudgetExceeded()
  }
}
