import type { ResponseBudget } from '../paging/response-budget.ts'
import {
  IntervalTable,
  MAX_GROUP_KEYS,
  type MetricIntervals,
  type MetricIntervalsQuery,
  noIntervals,
} from '../queries/metric-intervals.ts'
import { rangeEnds } from '../schema/time-range.ts'
import { ofService, seriesHash, serviceParameters } from './metric-queries.ts'
import type { Parameters } from './schema/clickhouse-client.ts'
import { metricTables } from './schema/exporter-schema.ts'
import { nanoseconds, serviceName } from './schema/tables.ts'
import type { Source } from './source.ts'

/** The sums by group, interval and bounds that are read for one answer. */
const MAX_PARTS = 50_000

interface PartRow {
  readonly group: readonly (readonly [key: string, value: string])[]
  readonly service: string
  readonly at: string
  readonly amount: number
  readonly bounds: readonly number[]
  readonly counts: readonly number[]
  readonly min: number | null
  readonly max: number | null
}

/** The columns of a point's amount and observations. The exporter stores 0 for a least and greatest value that were not sent. */
const columnsOf = {
  sum: `toFloat64(Value) AS amount, CAST([], 'Array(Float64)') AS bounds, CAST([], 'Array(Int64)') AS counts,
    CAST(NULL, 'Nullable(Float64)') AS low, CAST(NULL, 'Nullable(Float64)') AS high`,
  histogram: `toFloat64(Count) AS amount, ExplicitBounds AS bounds, arrayMap(c -> toInt64(c), BucketCounts) AS counts,
    if(Min = 0 AND Max = 0 AND Sum != 0, NULL, toNullable(toFloat64(Min))) AS low,
    if(Min = 0 AND Max = 0 AND Sum != 0, NULL, toNullable(toFloat64(Max))) AS high`,
} as const

const sortedAttributes = 'arraySort(arrayZip(mapKeys(Attributes), mapValues(Attributes)))'

/** Returns the sums of a metric's counters, or quantiles of its histograms, per interval over series. */
export async function findMetricIntervals(
  { db, schema }: Source,
  query: MetricIntervalsQuery,
  budget: ResponseBudget,
): Promise<MetricIntervals> {
  const { name, service, groupBy, intervalSeconds, maxGroups, ...range } = query
  const { sinceNs, untilNs } = rangeEnds(range)
  const parameters: Parameters = {
    ...serviceParameters(service),
    ...{ name, since: String(sinceNs), until: String(untilNs), intervalSeconds: String(intervalSeconds) },
    ...(groupBy !== undefined && { groupBy }),
  }
  for (const type of ['histogram', 'sum'] as const) {
    if (!schema.metricTypes.includes(type)) continue
    const table = metricTables[type]
    const time = nanoseconds('TimeUnix')
    const isWanted = `MetricName = {name:String} AND ${ofService(service)} AND ${time} >= {since:Int64}
      AND ${time} < {until:Int64} ${type === 'sum' ? 'AND IsMonotonic' : ''}`
    const sets = await db.rows<{ attributes: unknown }>(
      `SELECT DISTINCT ${serviceName} AS service, ${sortedAttributes} AS attributes FROM ${table} WHERE ${isWanted}
       LIMIT {limit:UInt32}`,
      { ...parameters, limit: maxGroups + 1 },
    )
    if (sets.length === 0) continue
    const isByName = groupBy === undefined && sets.length <= maxGroups
    const group =
      groupBy !== undefined
        ? `arrayFilter(pair -> pair.1 = {groupBy:String}, ${sortedAttributes})`
        : isByName
          ? sortedAttributes
          : `arrayResize(${sortedAttributes}, 0)`
    const rows = await db.rows<PartRow>(
      `SELECT group, service, at, sum(added) AS amount, bounds, sumForEach(added_counts) AS counts,
         if(countIf(least IS NULL) > 0, NULL, min(least)) AS min, if(countIf(greatest IS NULL) > 0, NULL, max(greatest)) AS max
       FROM (
         SELECT group, service, intDiv(time, {intervalSeconds:Int64} * 1000000000) AS at, bounds,
           is_delta OR (number = 1 AND start > 0 AND start >= {since:Int64})
             OR (number > 1 AND (start != before_start OR amount < before_amount OR bounds != before_bounds)) AS is_whole,
           if(is_whole, amount, amount - before_amount) AS added,
           if(is_whole, counts, arrayMap((now, then) -> now - then, counts, arrayResize(before_counts, length(counts)))) AS added_counts,
           if(is_whole, low, NULL) AS least, if(is_whole, high, NULL) AS greatest
         FROM (
           SELECT ${group} AS group, ${isByName ? serviceName : "''"} AS service, ${time} AS time,
             ${nanoseconds('StartTimeUnix')} AS start, AggregationTemporality = 1 AS is_delta, ${columnsOf[type]},
             row_number() OVER series AS number, lagInFrame(start) OVER series AS before_start,
             lagInFrame(amount) OVER series AS before_amount, lagInFrame(bounds) OVER series AS before_bounds,
             lagInFrame(counts) OVER series AS before_counts
           FROM ${table} WHERE ${isWanted}
           WINDOW series AS (PARTITION BY ${seriesHash(type)} ORDER BY time ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)
         ) WHERE is_delta OR number > 1 OR (start > 0 AND start >= {since:Int64})
       ) GROUP BY group, service, at, bounds ORDER BY at DESC LIMIT {limit:UInt32}`,
      { ...parameters, limit: MAX_PARTS + 1 },
    )
    const keys = await db.rows<{ key: string }>(
      `SELECT key FROM (
         SELECT DISTINCT key, value FROM ${table} ARRAY JOIN mapKeys(Attributes) AS key, mapValues(Attributes) AS value
         WHERE ${isWanted}
       ) GROUP BY key HAVING count() > 1 ORDER BY key LIMIT {limit:UInt32}`,
      { ...parameters, limit: MAX_GROUP_KEYS },
    )
    const intervals = new IntervalTable()
    for (const row of rows.slice(0, MAX_PARTS)) {
      const attributes = row.group.map(([key, value]) => ({ key, value }))
      const { min, max } = row
      const observations = type === 'sum' ? undefined : { bounds: row.bounds, counts: row.counts.map(Number), min, max }
      intervals.add(
        JSON.stringify(isByName ? [row.service, attributes] : attributes),
        () => ({ service: isByName ? row.service : null, attributes }),
        { at: Number(row.at), amount: Number(row.amount), observations },
      )
    }
    const truncated = rows.length > MAX_PARTS
    return intervals.answer(query, { type, group_keys: keys.map(({ key }) => key), truncated, budget })
  }
  return noIntervals(query)
}
