/** A map with room for `capacity` entries; beyond it, what was set longest ago is forgotten. */
export class RecentMap<K, V> extends Map<K, V> {
  readonly capacity: number

  constructor(capacity: number) {
    super()
    this.capacity = capacity
  }

  override set(key: K, value: V): this {
    this.delete(key)
    super.set(key, value)
    if (this.size > this.capacity) {
      for (const oldest of this.keys()) {
        this.delete(oldest)
        break
      }
    }
    return this
  }
}
