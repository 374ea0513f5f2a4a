import { getOrCreate } from './map-entry.ts'

/** Distinct values in the order in which they were first asked for. Their indexes represent them in columns. */
export class Distinct<Value> {
  readonly values: Value[]
  readonly #indexes: Map<Value, number>

  /** @param first the values that have the lowest indexes */
  constructor(first: readonly Value[] = []) {
    this.values = [...first]
    this.#indexes = new Map(first.map((value, index) => [value, index]))
  }

  /** Returns the index of a value, and adds the value if it is new. */
  indexOf(value: Value): number {
    return getOrCreate(this.#indexes, value, () => this.values.push(value) - 1)
  }
}
