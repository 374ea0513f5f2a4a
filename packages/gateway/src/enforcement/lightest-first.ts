import type { ClientCounter } from './client-counter.ts'

/**
 * A binary heap with the smallest weight on top. Weights only grow while a counter is in it, so it only ever sinks.
 *
 *            0
 *         1     2
 *        3 4   5 6     children of i: 2i + 1, 2i + 2
 */
export class LightestFirst {
  #counters: ClientCounter[] = []

  get size(): number {
    return this.#counters.length
  }

  get lightest(): ClientCounter | undefined {
    return this.#counters[0]
  }

  values(): readonly ClientCounter[] {
    return this.#counters
  }

  add(counter: ClientCounter): void {
    let place = this.#counters.length
    this.#counters.push(counter)
    while (place > 0) {
      const above = (place - 1) >> 1
      const parent = this.#counters[above]!
      if (parent.weight <= counter.weight) break
      this.#put(place, parent)
      place = above
    }
    this.#put(place, counter)
  }

  replaceLightest(counter: ClientCounter): void {
    this.#put(0, counter)
    this.sink(counter)
  }

  /** After its weight has grown. */
  sink(counter: ClientCounter): void {
    let { place } = counter
    for (;;) {
      let below = 2 * place + 1
      let child = this.#counters[below]
      if (child === undefined) break
      const right = this.#counters[below + 1]
      if (right !== undefined && right.weight < child.weight) {
        child = right
        below += 1
      }
      if (counter.weight <= child.weight) break
      this.#put(place, child)
      place = below
    }
    this.#put(place, counter)
  }

  rebuild(counters: readonly ClientCounter[]): void {
    this.#counters = []
    for (const counter of counters) this.add(counter)
  }

  #put(place: number, counter: ClientCounter): void {
    this.#counters[place] = counter
    counter.place = place
  }
}
