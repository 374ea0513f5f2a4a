interface RecentLimits<V> {
  readonly entries: number
  /** The maximum weight of all values together. A single value may exceed it. */
  readonly weight?: { readonly max: number; readonly of: (value: V) => number }
}

/** A map with limits. Entries that were set least recently are evicted first. */
export class RecentMap<K, V> extends Map<K, V> {
  readonly #limits: RecentLimits<V>
  #weight = 0

  constructor(limits: RecentLimits<V>) {
    super()
    this.#limits = limits
  }

  override set(key: K, value: V): this {
    this.delete(key)
    super.set(key, value)
    this.#weight += this.#weightOf(value)
    for (const oldest of this.keys()) {
      if (!this.#isFull) break
      this.delete(oldest)
    }
    return this
  }

  override delete(key: K): boolean {
    if (!this.has(key)) return false
    this.#weight -= this.#weightOf(this.get(key) as V)
    return super.delete(key)
  }

  get #isFull(): boolean {
    const { entries, weight } = this.#limits
    return this.size > entries || (weight !== undefined && this.#weight > weight.max && this.size > 1)
  }

  #weightOf(value: V): number {
    return this.#limits.weight?.of(value) ?? 0
  }
}
