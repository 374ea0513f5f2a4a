/** How long a search may run. Its statement fails at the end, so that no search returns a part of what it would find. */
export const SEARCH_BUDGET_MS = 2_000

/** The error for a search that would take longer than its budget. */
export class SearchBudgetError extends Error {
  override readonly name = 'SearchBudgetError'

  constructor(options?: ErrorOptions) {
    super('The search takes too long', options)
  }
}

/** The time that the searches on one connection have. */
export class SearchBudget {
  readonly #budgetMs: number
  #endMs = Number.POSITIVE_INFINITY

  constructor(budgetMs: number) {
    this.#budgetMs = budgetMs
  }

  /** Begins a search. */
  begin(): void {
    this.#endMs = performance.now() + this.#budgetMs
  }

  /** Adds the time for which the search has waited for its reader. */
  extend(ms: number): void {
    this.#endMs += ms
  }

  /** @throws SearchBudgetError */
  check(): void {
    if (performance.now() > this.#endMs) throw new SearchBudgetError()
  }

  /** Ends the search. The SQL functions of searches have no limit then. */
  end(): void {
    this.#endMs = Number.POSITIVE_INFINITY
  }
}
