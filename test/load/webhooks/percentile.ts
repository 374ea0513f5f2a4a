/** Returns the value below which this share of the sorted values is; NaN without values. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.max(Math.ceil(sorted.length * share) - 1, 0)] ?? Number.NaN
