/** Numbers that look random and come again with the same seed. */
export class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed | 0
  }

  /** In [0, 1). */
  next(): number {
    // mulberry32
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }

  /** 0 to `most`, both included. */
  upTo(most: number): number {
    return Math.floor(this.next() * (most + 1))
  }

  is(probability: number): boolean {
    return this.next() < probability
  }

  /** One of them; of none, `undefined`. */
  pick<Item>(items: readonly Item[]): Item {
    return items[this.upTo(items.length - 1)]!
  }

  /** Each of them or not, in their order. */
  some<Item>(items: readonly Item[], probability = 0.5): Item[] {
    return items.filter(() => this.is(probability))
  }
}
