/** A pseudo-random number generator with a seed. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** Returns a number in [0, 1). */
  next(): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** Returns an integer from 0 to `max`, both included. */
  upTo(max: number): number {
    return Math.floor(this.next() * (max + 1))
  }

  is(probability: number): boolean {
    return this.next() < probability
  }

  /** Returns one of the items; `undefined` if there are none. */
  pick<Item>(items: readonly Item[]): Item {
    return items[this.upTo(items.length - 1)]!
  }

  /** Returns a random subset of the items, in their order. */
  some<Item>(items: readonly Item[], probability = 0.5): Item[] {
    return items.filter(() => this.is(probability))
  }
}
