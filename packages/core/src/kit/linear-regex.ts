import { compileRegex, type RegexState } from './regex-compiler.ts'

/**
 * Regular expressions that users write. Matching takes time in proportion to the text. They have the
 * syntax of RE2, without Unicode classes by script, and only tell whether there is a match.
 *
 * The expression becomes an automaton. All of its states that the characters read so far can lead to are followed at
 * once, so that no part of the text is read twice (Thompson, 1968).
 */

export class LinearRegex {
  readonly #states: readonly RegexState[]
  readonly #start: number

  /** @throws RegexError */
  constructor(expression: string) {
    const { start, states } = compileRegex(expression)
    this.#start = start
    this.#states = states
  }

  /** Tells whether the expression matches a part of the text. */
  test(text: string): boolean {
    const characters = [...text]
    let current = new Set<number>()
    for (let at = 0; at <= characters.length; at += 1) {
      const [before, after] = [characters[at - 1], characters[at]]
      current.add(this.#start)
      const reached = this.#closure(current, before, after)
      if (reached === undefined) return true
      if (after === undefined) return false
      current = new Set()
      for (const index of reached) {
        const { accepts, next } = this.#states[index]!
        if (accepts?.(after)) for (const each of next) current.add(each)
      }
    }
    return false
  }

  /** Returns the states that are reached without reading a character; `undefined` if the end is among them. */
  #closure(from: Iterable<number>, before: string | undefined, after: string | undefined): Set<number> | undefined {
    const reached = new Set(from)
    for (const index of reached) {
      const { accepts, holds, next } = this.#states[index]!
      if (accepts !== undefined) continue
      if (holds !== undefined && !holds(before, after)) continue
      if (next.length === 0 && holds === undefined) return undefined
      for (const each of next) reached.add(each)
    }
    return reached
  }
}
