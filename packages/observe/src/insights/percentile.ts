export interface MedianAndP95 {
  readonly p50: number | null
  readonly p95: number | null
}

/** Returns the interpolated median and 95th percentile; `null` if there are no values. Changes the order of the values. */
export const medianAndP95 = (values: Float64Array): MedianAndP95 => {
  const p50 = percentileIn(values, 0.5)
  // The median moved the smaller values to the first half.
  return { p50, p95: percentileIn(values, 0.95, Math.floor(0.5 * (values.length - 1))) }
}

export const medianOf = (values: readonly number[]): number | null => percentileIn(new Float64Array(values), 0.5)

/**
 * Returns the interpolated percentile, as PostgreSQL's `percentile_cont` does; `null` if there are no values. Changes the order of the
 * values instead of sorting all of them.
 *
 * @param fraction from 0 to 1
 * @param from an index of the percentile or before it; the values before this index are not greater than the others
 */
export function percentileIn(values: Float64Array, fraction: number, from = 0): number | null {
  if (values.length === 0) return null
  const rank = fraction * (values.length - 1)
  const below = Math.floor(rank)
  const low = placeNth(values, below, from)
  if (rank === below) return low
  let high = Number.POSITIVE_INFINITY
  for (let at = below + 1; at < values.length; at += 1) if (values[at]! < high) high = values[at]!
  return low + (rank - below) * (high - low)
}

/**
 * Moves the n-th smallest value to index n, smaller ones before it and larger ones behind it (Hoare's quickselect), and returns it.
 *
 * @param first the values before this index stay there
 */
function placeNth(values: Float64Array, n: number, first: number): number {
  let [from, to] = [first, values.length - 1]
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
