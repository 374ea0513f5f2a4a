/** The steps that it takes to find a line in its text, and to compare it with the line at the same place of the other text. */
const STEPS_PER_LINE = 10
/** The further steps that it takes to prepare a line for a search. */
const STEPS_PER_SEARCHED_LINE = 20
const BYTES_PER_STEP = 4

/**
 * The work that the comparisons of one answer may still take. A step is what a search takes to look at one line, some 10 ns.
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
