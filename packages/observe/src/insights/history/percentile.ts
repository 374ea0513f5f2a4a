export interface MedianAndP95 {
  readonly p50: number | null
  readonly p95: number | null
}

/** Returns the interpolated median and 95th percentile; `null` if there are no values. May change the order of the values. */
export function medianAndP95(values: Float64Array): MedianAndP95 {
  const [p50 = null, p95 = null] = percentilesIn(values, [0.5, 0.95])
  return { p50, p95 }
}

export const toMedian = (values: readonly number[]): number | null => percentileIn(new Float64Array(values), 0.5)

/**
 * Returns the interpolated percentile, as PostgreSQL's `percentile_cont` does; `null` if there are no values. May change the order of the
 * values.
 *
 * @param fraction from 0 to 1
 */
export const percentileIn = (values: Float64Array, fraction: number): number | null =>
  percentilesIn(values, [fraction])[0] ?? null

/** Returns a percentile for each fraction, which ascend; none if there are no values. */
function percentilesIn(values: Float64Array, fractions: readonly number[]): number[] {
  if (values.length === 0) return []
  const last = values.length - 1
  const ranks = fractions.flatMap((fraction) => {
    const below = Math.floor(fraction * last)
    return [below, Math.min(below + 1, last)]
  })
  const found = values.length > FEW ? placesByCounting(values, ranks) : ranks.map((rank) => placeNth(values, rank))
  return fractions.map((fraction, index) => {
    const [low, high] = [found[2 * index]!, found[2 * index + 1]!]
    const between = fraction * last - ranks[2 * index]!
    return between === 0 ? low : low + between * (high - low)
  })
}

/** Up to this many values are searched directly. */
const FEW = 1_000
const BINS = 256

/**
 * Returns the values with some ranks in the order of size. Counts the values in bins of equal width, and searches only the bins with these
 * ranks: unlike a quickselect over all values, that has no branches that a processor cannot predict.
 */
function placesByCounting(values: Float64Array, ranks: readonly number[]): number[] {
  let [least, most] = [values[0]!, values[0]!]
  for (let at = 1; at < values.length; at += 1) {
    const value = values[at]!
    least = value < least ? value : least
    most = value > most ? value : most
  }
  if (least === most) return ranks.map(() => least)
  const scale = (BINS - 1) / (most - least)
  const counts = new Uint32Array(BINS)
  for (let at = 0; at < values.length; at += 1) {
    const bin = ((values[at]! - least) * scale) | 0
    counts[bin] = counts[bin]! + 1
  }
  // The values of each bin with a rank.
  const searched: (Float64Array | undefined)[] = new Array(BINS).fill(undefined)
  const bins = ranks.map((rank) => {
    let [bin, first] = [0, 0]
    while (first + counts[bin]! <= rank) first += counts[bin++]!
    const own = searched[bin] ?? new Float64Array(counts[bin]!)
    searched[bin] = own
    return { own, rank: rank - first }
  })
  const lengths = new Uint32Array(BINS)
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at]!
    const bin = ((value - least) * scale) | 0
    const own = searched[bin]
    if (own !== undefined) own[lengths[bin]!++] = value
  }
  return bins.map(({ own, rank }) => placeNth(own, rank))
}

/** Moves the n-th smallest value to index n, smaller ones before it and larger ones behind it (Hoare's quickselect), and returns it. */
function placeNth(values: Float64Array, n: number): number {
  let [from, to] = [0, values.length - 1]
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
