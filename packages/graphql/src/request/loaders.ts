import DataLoader from 'dataloader'

/**
 * Loads data for the resolvers of one operation, in rounds. A round makes one call per kind, with all the keys requested so
 * far; the next round starts when all calls have returned. So the keys that two paths of a document need are in one batch,
 * whichever path was resolved first.
 */
export class Loaders {
  readonly #byKind = new Map<string, DataLoader<unknown, unknown, unknown>>()
  readonly #resultsBySource = new WeakMap<object, Map<string, Promise<unknown>>>()
  #waiting: (() => void)[] = []
  #pending = 0
  readonly #requireTime: () => void

  /** @param requireTime is called before each load; if it throws, the load is rejected with that error */
  constructor(requireTime: () => void = () => {}) {
    this.#requireTime = requireTime
  }

  /**
   * Returns the value that `load` returns for `key`. `load` is called with all keys of the round.
   *
   * @param kind names what is loaded, with its arguments
   * @param identity returns the value by which keys are equal; by default keys are equal if they are the same object
   */
  load<Key, Value>(
    kind: string,
    key: Key,
    load: (keys: readonly Key[]) => Promise<readonly Value[]>,
    identity?: (key: Key) => unknown,
  ): Promise<Value> {
    let loader = this.#byKind.get(kind) as DataLoader<Key, Value, unknown> | undefined
    if (loader === undefined) {
      loader = new DataLoader<Key, Value, unknown>((keys) => this.#start(() => load(keys)), {
        batchScheduleFn: (dispatch) => this.#enqueue(dispatch),
        ...(identity && { cacheKeyFn: identity }),
      })
      this.#byKind.set(kind, loader)
    }
    return loader.load(key)
  }

  /** Returns the result of `load`, which is called once per `source` and `what`. The next round waits for it. */
  loadOnce<Result>(source: object, what: string, load: () => Promise<Result>): Promise<Result> {
    const results = this.#resultsBySource.get(source) ?? new Map<string, Promise<unknown>>()
    this.#resultsBySource.set(source, results)
    const result = results.get(what) ?? this.#start(load)
    results.set(what, result)
    return result as Promise<Result>
  }

  /** Makes the next round wait for `work`. The work must not wait for a load, or it would never end. */
  async beforeNextRound<Result>(work: Promise<Result>): Promise<Result> {
    this.#pending += 1
    try {
      return await work
    } finally {
      this.#pending -= 1
      if (this.#pending === 0) this.#startRoundSoon()
    }
  }

  /** Discards the loaded values, which a mutation may have changed. */
  clear(): void {
    this.#byKind.clear()
  }

  #start<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.beforeNextRound(
      (async () => {
        this.#requireTime()
        return work()
      })(),
    )
  }

  #enqueue(dispatch: () => void): void {
    this.#waiting.push(dispatch)
    if (this.#waiting.length === 1 && this.#pending === 0) this.#startRoundSoon()
  }

  /** Starts the next round when all resolvers that do not wait for data have run. */
  #startRoundSoon(): void {
    setImmediate(() => {
      if (this.#pending > 0) return
      const waiting = this.#waiting
      this.#waiting = []
      for (const dispatch of waiting) dispatch()
    })
  }
}
