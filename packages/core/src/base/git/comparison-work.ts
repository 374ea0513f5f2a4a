/** The steps for finding a line in its text, and comparing it with the line at the same place of the other text. */
const STEPS_PER_LINE = 10
/** The further steps for preparing a line for a search. */
const STEPS_PER_SEARCHED_LINE = 20
const BYTES_PER_STEP = 4

/**
 * The work that the comparisons of one answer may still take. In a step, a search looks at one line, which takes about 10 ns.
 */
export class ComparisonWork {
  #left: number

  constructor(steps: number) {
    this.#left = steps
  }

  get isDone(): boolean {
    return this.#left <= 0
  }

  takeSteps(count: number): void {
    this.#left -= count
  }

  takeLines(count: number): void {
    this.#left -= count * STEPS_PER_LINE
  }

  takeSearchedLines(count: number): void {
    this.#left -= count * STEPS_PER_SEARCHED_LINE
  }

  takeBytes(count: number): void {
    this.#left -= count / BYTES_PER_STEP
  }
}
