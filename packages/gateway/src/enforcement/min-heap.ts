import type { ClientCounter } from './client-counter.ts'

/**
 * A binary heap with the smallest weight on top. Weights only grow while a counter is in the heap, so a counter only sinks.
 *
 *            0
 *         1     2
 *        3 4   5 6     the children of i are 2i + 1 and 2i + 2
 */
export class MinHeap {
  #counters: ClientCounter[] = []

  get size(): number {
    return this.#counters.length
  }

  get min(): ClientCounter | undefined {
    return this.#counters[0]
  }

  values(): readonly ClientCounter[] {
    return this.#counters
  }

  add(counter: ClientCounter): void {
    let index = this.#counters.length
    this.#counters.push(counter)
    while (index > 0) {
      const parentIndex = (index - 1) >> 1
      const parent = this.#counters[parentIndex]!
      if (parent.weight <= counter.weight) break
      this.#put(index, parent)
      index = parentIndex
    }
    this.#put(index, counter)
  }

  replaceMin(counter: ClientCounter): void {
    this.#put(0, counter)
    this.sink(counter)
  }

  /** Restores the order after the weight of a counter has grown. */
  sink(counter: ClientCounter): void {
    let index = counter.heapIndex
    for (;;) {
      let childIndex = 2 * index + 1
      let child = this.#counters[childIndex]
      if (child === undefined) break
      const right = this.#counters[childIndex + 1]
      if (right !== undefined && right.weight < child.weight) {
        child = right
        childIndex += 1
      }
      if (counter.weight <= child.weight) break
      this.#put(index, child)
      index = childIndex
    }
    this.#put(index, counter)
  }

  rebuild(counters: readonly ClientCounter[]): void {
    this.#counters = []
    for (const counter of counters) this.add(counter)
  }

  #put(index: number, counter: ClientCounter): void {
    this.#counters[index] = counter
    counter.heapIndex = index
  }
}
