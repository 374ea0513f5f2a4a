/** The default bounds of the duration histograms, in seconds. */
const bounds = [1, 5, 10, 30, 60, 300, 600, 1800, 3600] as const

/**
 * Returns a quantile as Prometheus estimates it from the buckets: it assumes that the values of a bucket are spread evenly, and
 * returns the highest bound for values beyond it.
 */
export function bucketQuantile(q: number, values: readonly number[]): number {
  const rank = q * values.length
  let below = 0
  for (const [i, upper] of bounds.entries()) {
    const lower = bounds[i - 1] ?? 0
    const inBucket = values.filter((value) => value > lower && value <= upper).length
    if (below + inBucket >= rank) return lower + (upper - lower) * ((rank - below) / inBucket)
    below += inBucket
  }
  return bounds.at(-1)!
}

/** Returns a quantile of values, interpolated between the two nearest ones. */
export function quantile(q: number, values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const rank = q * (sorted.length - 1)
  const [lower, upper] = [sorted[Math.floor(rank)]!, sorted[Math.ceil(rank)]!]
  return lower + (upper - lower) * (rank - Math.floor(rank))
}

export const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)

export function groupedBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

/** Returns the entries with the largest figures. Fails if the last of them is a tie, because then the choice is open. */
export function largest(count: number, figures: Readonly<Record<string, number>>): Record<string, number> {
  const sorted = Object.entries(figures).toSorted(([, a], [, b]) => b - a)
  const [last, next] = [sorted[count - 1], sorted[count]]
  if (next !== undefined && last![1] === next[1]) throw new Error(`${last![0]} and ${next[0]} are both ${last![1]}`)
  return Object.fromEntries(sorted.slice(0, count))
}
