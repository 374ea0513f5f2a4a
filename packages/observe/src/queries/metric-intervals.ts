import type { ResponseBudget } from '../paging/response-budget.ts'
import type { TimeRange } from '../schema/time-range.ts'

export interface MetricIntervalsQuery extends TimeRange {
  readonly name: string
  readonly service?: string | undefined
  /** The key of the attribute that forms a group of each of its values. For the default, see `MetricIntervals.groups`. */
  readonly groupBy?: string | undefined
  readonly intervalSeconds: number
  readonly maxGroups: number
}

/** An attribute with its value as text. */
export interface GroupAttribute {
  readonly key: string
  readonly value: string
}

export interface MetricInterval {
  readonly start_time_unix_nano: string
  /** The increase of counters, or the number of observations of histograms. */
  readonly amount: number
  /** `null` except for histograms with bounds. */
  readonly p50: number | null
  readonly p95: number | null
}

export interface MetricGroup {
  /** `null` if the group has series of all services. */
  readonly service: string | null
  readonly attributes: readonly GroupAttribute[]
  /** The sum of the amounts. */
  readonly total: number
  /** In order of time; intervals without points are left out. */
  readonly intervals: readonly MetricInterval[]
}

/** Counters and histograms of one metric, added up over series. */
export interface MetricIntervals {
  readonly name: string
  /** `sum` or `histogram`; `null` if the metric has neither a monotonic sum nor a histogram. */
  readonly type: 'sum' | 'histogram' | null
  readonly interval_seconds: number
  /** The keys of attributes with several values, by name. */
  readonly group_keys: readonly string[]
  /**
   * The largest groups first. Without `groupBy`, the series with the same service and attributes are a group, or if there are too many such
   * groups, all series are one.
   */
  readonly groups: readonly MetricGroup[]
  /** The number of smaller groups. */
  readonly groups_left_out: number
  /** Whether the range has more points or groups than were added up. */
  readonly truncated: boolean
}

/** The limits of one answer. */
export const MAX_GROUP_KEYS = 100
export const MAX_INTERVALS = 1_000

export const noIntervals = ({ name, intervalSeconds }: MetricIntervalsQuery): MetricIntervals => ({
  ...{ name, type: null, interval_seconds: intervalSeconds, group_keys: [], groups: [], groups_left_out: 0 },
  truncated: false,
})

/** The observations of points with the same bounds. */
export interface Observations {
  readonly bounds: readonly number[]
  readonly counts: readonly number[]
  /** `null` if one of the points has no such value. */
  readonly min: number | null
  readonly max: number | null
}

/** The part of an interval that points of one group add. */
export interface IntervalPart {
  /** The number of the interval since 1970. */
  readonly at: number
  readonly amount: number
  readonly observations?: Observations | undefined
}

export interface GroupName {
  readonly service: string | null
  readonly attributes: readonly GroupAttribute[]
}

/** Adds up the points of groups by interval. */
export class IntervalTable {
  readonly #groups = new Map<string, { readonly name: GroupName; total: number; readonly cells: Map<number, Cell> }>()

  /** @param key identifies the group */
  add(key: string, name: () => GroupName, { at, amount, observations }: IntervalPart): void {
    let group = this.#groups.get(key)
    if (group === undefined) {
      group = { name: name(), total: 0, cells: new Map() }
      this.#groups.set(key, group)
    }
    group.total += amount
    let cell = group.cells.get(at)
    if (cell === undefined) {
      cell = { amount: 0, byBounds: new Map() }
      group.cells.set(at, cell)
    }
    cell.amount += amount
    if (observations !== undefined) merge(cell.byBounds, observations)
  }

  /** Returns the largest groups. */
  answer(
    query: MetricIntervalsQuery,
    {
      budget,
      ...more
    }: Pick<MetricIntervals, 'type' | 'group_keys' | 'truncated'> & { readonly budget: ResponseBudget },
  ): MetricIntervals {
    const largest = [...this.#groups].sort(([a, { total }], [b, { total: other }]) => other - total || (a < b ? -1 : 1))
    const groups: MetricGroup[] = []
    for (const [, { name, total, cells }] of largest.slice(0, query.maxGroups)) {
      const intervals = [...cells]
        .sort(([a], [b]) => a - b)
        .slice(-MAX_INTERVALS)
        .map(([at, cell]) => toInterval(at, query.intervalSeconds, cell))
      const group = { ...name, total, intervals }
      if (!budget.take(group)) break
      groups.push(group)
    }
    return {
      ...{ name: query.name, interval_seconds: query.intervalSeconds, ...more, groups },
      groups_left_out: largest.length - groups.length,
      truncated: more.truncated || budget.isTruncated,
    }
  }
}

interface Cell {
  amount: number
  readonly byBounds: Map<string, Observations>
}

function merge(byBounds: Map<string, Observations>, added: Observations): void {
  const key = added.bounds.join()
  const known = byBounds.get(key)
  if (known === undefined) return void byBounds.set(key, added)
  byBounds.set(key, {
    bounds: known.bounds,
    counts: added.counts.map((count, index) => count + (known.counts[index] ?? 0)),
    min: known.min === null || added.min === null ? null : Math.min(known.min, added.min),
    max: known.max === null || added.max === null ? null : Math.max(known.max, added.max),
  })
}

function toInterval(at: number, intervalSeconds: number, { amount, byBounds }: Cell): MetricInterval {
  // Points with different bounds cannot be added up, so the quantiles are those of the bounds with the most observations.
  const most = [...byBounds.values()].sort((a, b) => observed(b) - observed(a))[0]
  return {
    start_time_unix_nano: String(BigInt(at) * BigInt(intervalSeconds) * 1_000_000_000n),
    amount,
    p50: most === undefined ? null : estimateQuantile(most, 0.5),
    p95: most === undefined ? null : estimateQuantile(most, 0.95),
  }
}

const observed = ({ counts }: Observations): number => counts.reduce((sum, count) => sum + count, 0)

/**
 * Returns a quantile, interpolated within its bucket and within the least and greatest value if they are known. Values above the last
 * bound are treated as equal to it. `null` without bounds or without observations.
 */
export function estimateQuantile(observations: Observations, quantile: number): number | null {
  const { bounds, counts, min, max } = observations
  const total = observed(observations)
  if (total === 0 || bounds.length === 0) return null
  const rank = quantile * total
  let below = 0
  let found = bounds.at(-1)!
  for (const [index, count] of counts.entries()) {
    if (count > 0 && below + count >= rank) {
      const upper = bounds[index]
      if (upper !== undefined) {
        const lower = index === 0 ? Math.min(0, upper) : bounds[index - 1]!
        found = lower + (upper - lower) * ((rank - below) / count)
      }
      break
    }
    below += count
  }
  return Math.min(max ?? Number.POSITIVE_INFINITY, Math.max(min ?? Number.NEGATIVE_INFINITY, found))
}
