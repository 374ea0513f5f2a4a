import DataLoader from 'dataloader'

/**
 * Loads what the resolvers of one operation want, in rounds. A round asks once for all that is wanted of each kind; the next
 * begins when the whole round has been answered. So what two paths of a document want of one kind meets in one batch,
 * whichever of them was answered sooner.
 */
export class Loaders {
  readonly #byKind = new Map<string, DataLoader<unknown, unknown, unknown>>()
  readonly #told = new WeakMap<object, Map<string, Promise<unknown>>>()
  #wanted: (() => void)[] = []
  #unanswered = 0
  readonly #requireTime: () => void

  /** @param requireTime asked before anything is begun; what it throws is told to whoever wants it */
  constructor(requireTime: () => void = () => {}) {
    this.#requireTime = requireTime
  }

  /**
   * What `load` gives for `key`, asked together with the other keys of the round.
   *
   * @param kind what is loaded, with its arguments if there are any
   * @param sameAs by what keys are the same, where they are not by being the same object
   */
  load<Key, Value>(
    kind: string,
    key: Key,
    load: (keys: readonly Key[]) => Promise<readonly Value[]>,
    sameAs?: (key: Key) => unknown,
  ): Promise<Value> {
    let loader = this.#byKind.get(kind) as DataLoader<Key, Value, unknown> | undefined
    if (loader === undefined) {
      loader = new DataLoader<Key, Value, unknown>((keys) => this.#begin(() => load(keys)), {
        batchScheduleFn: (dispatch) => this.#want(dispatch),
        ...(sameAs && { cacheKeyFn: sameAs }),
      })
      this.#byKind.set(kind, loader)
    }
    return loader.load(key)
  }

  /** What `ask` gives: asked once of `source`, however many want it. The next round waits for it, as with `after`. */
  once<Result>(source: object, what: string, ask: () => Promise<Result>): Promise<Result> {
    const told = this.#told.get(source) ?? new Map<string, Promise<unknown>>()
    this.#told.set(source, told)
    const result = told.get(what) ?? this.#begin(ask)
    told.set(what, result)
    return result as Promise<Result>
  }

  /** Other work that the next round waits for. It may not itself wait for a load. */
  async after<Result>(work: Promise<Result>): Promise<Result> {
    this.#unanswered += 1
    try {
      return await work
    } finally {
      this.#unanswered -= 1
      if (this.#unanswered === 0) this.#beginSoon()
    }
  }

  /** What was loaded so far need not be so any more. */
  forget(): void {
    this.#byKind.clear()
  }

  #begin<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.after(
      (async () => {
        this.#requireTime()
        return work()
      })(),
    )
  }

  #want(dispatch: () => void): void {
    this.#wanted.push(dispatch)
    if (this.#wanted.length === 1 && this.#unanswered === 0) this.#beginSoon()
  }

  /** When every resolver that can go on with what is there has gone on. */
  #beginSoon(): void {
    setImmediate(() => {
      if (this.#unanswered > 0) return
      const wanted = this.#wanted
      this.#wanted = []
      for (const dispatch of wanted) dispatch()
    })
  }
}
