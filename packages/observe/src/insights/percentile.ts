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
export const sortedNumbers = (values: Iterable<number>): Float64Array => Float64Array.from(values).sort()

export const medianOf = (values: Iterable<number>): number | null => percentileOf(sortedNumbers(values), 0.5)
