/** Items that wait to be visited, newest first by time. Items of the same time leave in the order in which they came. */
export class NewestFirst<Item> {
  readonly #waiting: Item[] = []
  readonly #secondsOf: (item: Item) => number

  constructor(secondsOf: (item: Item) => number) {
    this.#secondsOf = secondsOf
  }

  /** The waiting items, newest first. */
  get items(): readonly Item[] {
    return this.#waiting
  }

  add(item: Item): void {
    const seconds = this.#secondsOf(item)
    const at = this.#waiting.findLastIndex((other) => this.#secondsOf(other) >= seconds)
    this.#waiting.splice(at + 1, 0, item)
  }

  /** Removes and returns the newest item. */
  take(): Item | undefined {
    return this.#waiting.shift()
  }
}
