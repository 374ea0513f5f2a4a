/**
 * Returns the interpolated percentile, as PostgreSQL's `percentile_cont` does; `null` if there are no values.
 *
 * @param sorted in ascending order
 * @param fraction from 0 to 1
 */
export function percentileOf(sorted: ArrayLike<number>, fraction: number): number | null {
  if (sorted.length === 0) return null
  const rank = fraction * (sorted.length - 1)
  const below = Math.floor(rank)
  const low = sorted[below]!
  const high = sorted[Math.ceil(rank)]!
  return low + (rank - below) * (high - low)
}

/** Returns a sorted copy. Typed arrays sort numbers without calling a function for each comparison. */
export const sortedNumbers = (values: readonly number[]): Float64Array => new Float64Array(values).sort()

export const medianOf = (values: readonly number[]): number | null => percentileOf(sortedNumbers(values), 0.5)

/**
 * Collects numbers, and returns percentiles of them without sorting all. One is used for many groups, so that its memory is
 * allocated once.
 */
export class Sample {
  readonly #values: Float64Array
  #length = 0

  constructor(capacity: number) {
    this.#values = new Float64Array(capacity)
  }

  clear(): void {
    this.#length = 0
  }

  add(value: number): void {
    this.#values[this.#length] = value
    this.#length += 1
  }

  /** Returns the interpolated percentile; `null` if there are no values. */
  percentile(fraction: number): number | null {
    if (this.#length === 0) return null
    const rank = fraction * (this.#length - 1)
    const below = Math.floor(rank)
    const low = placeNth(this.#values, below, this.#length)
    if (rank === below) return low
    let high = Number.POSITIVE_INFINITY
    for (let at = below + 1; at < this.#length; at += 1) high = Math.min(high, this.#values[at]!)
    return low + (rank - below) * (high - low)
  }
}

/**
 * Moves the n-th smallest of the first `length` values to index n, smaller ones before it and larger ones behind it (Hoare's
 * quickselect), and returns it.
 */
function placeNth(values: Float64Array, n: number, length: number): number {
  let [from, to] = [0, length - 1]
  while (from < to) {
    const pivot = medianOfThree(values[from]!, values[(from + to) >>> 1]!, values[to]!)
    let [low, high] = [from, to]
    while (low <= high) {
      while (values[low]! < pivot) low += 1
      while (values[high]! > pivot) high -= 1
      if (low > high) break
      const value = values[low]!
      values[low] = values[high]!
      values[high] = value
      low += 1
      high -= 1
    }
    if (n <= high) to = high
    else if (n >= low) from = low
    else break
  }
  return values[n]!
}

const medianOfThree = (a: number, b: number, c: number): number => Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
