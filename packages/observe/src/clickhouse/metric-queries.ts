import { type Page, type Position, toPage } from '../paging/cursor.ts'
import type { ResponseBudget } from '../paging/response-budget.ts'
import type { MetricName, MetricNameQuery, MetricQuery, StoredMetric, StoredSeries } from '../queries/metric-queries.ts'
import { rangeEnds } from '../schema/time-range.ts'
import { type MetricType, metricTables } from './schema/exporter-schema.ts'
import { attributesPart, type TextMap, toKeyValues, withoutDefaults } from './schema/otlp-json.ts'
import { nanoseconds, serviceName, storedServiceNames } from './schema/tables.ts'
import type { Source } from './source.ts'

const temporalTypes: ReadonlySet<MetricType> = new Set(['sum', 'histogram', 'exponentialHistogram'])

/** The columns that, with the type, tell series of one metric apart. Attributes are sorted, because they are stored in any order. */
export function seriesHash(type: MetricType): string {
  const sorted = (map: string) => `arraySort(arrayZip(mapKeys(${map}), mapValues(${map})))`
  const parts = [
    'MetricUnit',
    ...['ResourceAttributes', 'ScopeAttributes', 'Attributes'].map(sorted),
    'ScopeName',
    'ScopeVersion',
    ...(temporalTypes.has(type) ? ['AggregationTemporality'] : []),
    ...(type === 'sum' ? ['IsMonotonic'] : []),
  ]
  return `cityHash64(${parts.join(', ')})`
}

export const ofService = (service: string | undefined) =>
  service === undefined ? 'true' : 'ServiceName IN {services:Array(String)}'
export const serviceParameters = (service: string | undefined) =>
  service === undefined ? {} : { services: storedServiceNames(service) }

/** Returns metrics in the order of their names. */
export async function listMetricNames(
  { db, schema }: Source,
  { service, limit, after }: MetricNameQuery,
  budget: ResponseBudget,
): Promise<Page<MetricName>> {
  const types = schema.metricTypes
  if (types.length === 0) return { items: [], next: undefined }
  const parts = types.map(
    (type) =>
      `SELECT toString(MetricName) AS name, '${type}' AS type, MetricUnit AS unit, max(MetricDescription) AS description,
         uniqExact(${seriesHash(type)}) AS series
       FROM ${metricTables[type]} WHERE ${ofService(service)} GROUP BY name, unit`,
  )
  const [name, type, unit] = after ?? ['', '', '']
  const rows = await db.rows<Omit<MetricName, 'series'> & { series: string }>(
    `SELECT name, type, unit, description, series FROM (${parts.join(' UNION ALL ')})
     WHERE (name, type, unit) > ({name:String}, {type:String}, {unit:String})
     ORDER BY name, type, unit LIMIT {limit:UInt32}`,
    { ...serviceParameters(service), name: name!, type: type!, unit: unit!, limit: limit + 1 },
  )
  const positionOf = (item: MetricName): Position => [item.name, item.type, item.unit]
  const found = rows.map((row) => ({ ...row, series: Number(row.series) }))
  const fitting = found.filter((item) => budget.take(item, positionOf(item))).map((item) => ({ row: item, item }))
  return toPage(fitting, { limit, isTruncated: budget.isTruncated }, positionOf)
}

interface SeriesRow {
  readonly key: string
  readonly last: string
  readonly service: string
  readonly unit: string
  readonly description: string
  readonly resource: TextMap
  readonly resource_schema_url: string
  readonly scope: string
  readonly scope_version: string
  readonly scope_attributes: TextMap
  readonly scope_schema_url: string
  readonly attributes: TextMap
  readonly temporality: number
  readonly is_monotonic: boolean
}

/** Returns the series of a metric, those with the latest points in the range first. */
export async function findMetric(
  source: Source,
  { name, service, maxSeries, maxPointsPerSeries, ...range }: MetricQuery,
  budget: ResponseBudget,
): Promise<StoredMetric> {
  const { db, schema } = source
  const { sinceNs, untilNs } = rangeEnds(range)
  const time = nanoseconds('TimeUnix')
  const found: { readonly type: MetricType; readonly row: SeriesRow }[] = []
  for (const type of schema.metricTypes) {
    const rows = await db.rows<SeriesRow>(
      `SELECT ${seriesHash(type)} AS key, maxIf(${time}, ${time} >= {since:Int64} AND ${time} < {until:Int64}) AS last, any(${serviceName}) AS service,
         any(MetricUnit) AS unit, argMax(MetricDescription, TimeUnix) AS description, any(ResourceAttributes) AS resource,
         any(ResourceSchemaUrl) AS resource_schema_url, any(ScopeName) AS scope, any(ScopeVersion) AS scope_version,
         any(ScopeAttributes) AS scope_attributes, any(ScopeSchemaUrl) AS scope_schema_url, any(Attributes) AS attributes,
         ${temporalTypes.has(type) ? 'any(AggregationTemporality)' : '0'} AS temporality,
         ${type === 'sum' ? 'any(IsMonotonic)' : 'false'} AS is_monotonic
       FROM ${metricTables[type]} WHERE MetricName = {name:String} AND ${ofService(service)}
       GROUP BY key ORDER BY last DESC, key LIMIT {limit:UInt32}`,
      { ...serviceParameters(service), name, limit: maxSeries + 1, since: String(sinceNs), until: String(untilNs) },
    )
    found.push(...rows.map((row) => ({ type, row })))
  }
  found.sort((a, b) => compare(BigInt(b.row.last), BigInt(a.row.last)) || compare(a.row.key, b.row.key))
  const chosen = found.slice(0, maxSeries)
  const points = new Map<string, object[]>()
  for (const type of new Set(chosen.map((one) => one.type))) {
    const keys = chosen.filter((one) => one.type === type).map(({ row }) => row.key)
    await readPoints(source, { type, name, service, keys, maxPointsPerSeries, ...range }, points)
  }
  const series: StoredSeries[] = []
  for (const { type, row } of chosen) {
    // The latest point first.
    const all = points.get(`${type} ${row.key}`) ?? []
    const one: StoredSeries = {
      service: row.service,
      resource: attributesPart(row.resource),
      resource_schema_url: row.resource_schema_url,
      scope: {
        ...withoutDefaults({ name: row.scope, version: row.scope_version }),
        ...attributesPart(row.scope_attributes),
      },
      scope_schema_url: row.scope_schema_url,
      type,
      unit: row.unit,
      description: row.description,
      aggregation_temporality: temporalTypes.has(type) ? row.temporality : null,
      is_monotonic: type === 'sum' ? row.is_monotonic : null,
      attributes: toKeyValues(row.attributes),
      points: [],
      truncated: false,
    }
    if (!budget.take(one)) break
    const fitting = all.slice(0, maxPointsPerSeries).filter((point) => budget.take(point))
    const truncated = all.length > maxPointsPerSeries || budget.isTruncated
    series.push({ ...one, points: fitting.reverse(), truncated })
  }
  return { name, series, truncated: found.length > maxSeries || budget.isTruncated }
}

const compare = <Value extends bigint | string>(a: Value, b: Value): number => (a < b ? -1 : a > b ? 1 : 0)

interface PointRow {
  readonly series: string
  readonly time: string
  readonly start: string
  readonly flags: number
  readonly exemplar_times: readonly string[]
  readonly exemplar_values: readonly number[]
  readonly exemplar_spans: readonly string[]
  readonly exemplar_traces: readonly string[]
  readonly exemplar_attributes: readonly TextMap[]
  readonly [column: string]: unknown
}

const exemplarColumns = `arrayMap(t -> ${nanoseconds('t')}, Exemplars.TimeUnix) AS exemplar_times,
  Exemplars.Value AS exemplar_values, Exemplars.SpanId AS exemplar_spans, Exemplars.TraceId AS exemplar_traces,
  Exemplars.FilteredAttributes AS exemplar_attributes`

/** The columns of each type of points → the fields of OTLP. Names beginning with `zero` etc. follow OTLP/JSON. */
const valueColumns: Readonly<Record<MetricType, string>> = {
  gauge: 'Value AS value',
  sum: 'Value AS value',
  histogram: 'Count AS count, Sum AS sum, Min AS min, Max AS max, BucketCounts AS buckets, ExplicitBounds AS bounds',
  exponentialHistogram: `Count AS count, Sum AS sum, Min AS min, Max AS max, Scale AS scale, ZeroCount AS zero_count,
    PositiveOffset AS positive_offset, PositiveBucketCounts AS positive,
    NegativeOffset AS negative_offset, NegativeBucketCounts AS negative`,
  summary:
    'Count AS count, Sum AS sum, ValueAtQuantiles.Quantile AS quantiles, ValueAtQuantiles.Value AS quantile_values',
}

interface PointsQuery extends Omit<MetricQuery, 'maxSeries'> {
  readonly type: MetricType
  readonly keys: readonly string[]
}

/** Adds the points of some series, the latest first, and of each series one more than fits. */
async function readPoints(
  { db }: Source,
  { type, name, service, keys, maxPointsPerSeries, ...range }: PointsQuery,
  points: Map<string, object[]>,
): Promise<void> {
  const { sinceNs, untilNs } = rangeEnds(range)
  const rows = await db.rows<PointRow>(
    `SELECT ${seriesHash(type)} AS series, ${nanoseconds('TimeUnix')} AS time, ${nanoseconds('StartTimeUnix')} AS start,
       Flags AS flags, ${valueColumns[type]}${type === 'summary' ? '' : `, ${exemplarColumns}`}
     FROM ${metricTables[type]}
     WHERE MetricName = {name:String} AND ${ofService(service)} AND toString(series) IN {keys:Array(String)}
       AND time >= {since:Int64} AND time < {until:Int64}
     ORDER BY time DESC LIMIT {limit:UInt32} BY series`,
    {
      ...serviceParameters(service),
      name,
      keys,
      since: String(sinceNs),
      until: String(untilNs),
      limit: maxPointsPerSeries + 1,
    },
  )
  for (const row of rows) {
    const key = `${type} ${row.series}`
    const list = points.get(key) ?? []
    points.set(key, list)
    list.push(toPoint(type, row))
  }
}

function toPoint(type: MetricType, row: PointRow): object {
  const exemplars = (row.exemplar_times ?? []).map((timeUnixNano, index) => ({
    ...withoutDefaults({
      timeUnixNano,
      spanId: row.exemplar_spans[index],
      traceId: row.exemplar_traces[index],
    }),
    asDouble: row.exemplar_values[index],
    ...(Object.keys(row.exemplar_attributes[index]!).length > 0 && {
      filteredAttributes: toKeyValues(row.exemplar_attributes[index]!),
    }),
  }))
  return {
    ...withoutDefaults({ startTimeUnixNano: row.start, timeUnixNano: row.time, flags: row.flags }),
    ...measuredOf(type, row),
    ...(exemplars.length > 0 && { exemplars }),
  }
}

function measuredOf(type: MetricType, row: PointRow): object {
  switch (type) {
    case 'gauge':
    case 'sum':
      return { asDouble: row.value }
    case 'histogram':
      return {
        ...withoutDefaults({ count: row.count }),
        sum: row.sum,
        min: row.min,
        max: row.max,
        bucketCounts: row.buckets,
        explicitBounds: row.bounds,
      }
    case 'exponentialHistogram':
      return {
        ...withoutDefaults({ count: row.count, scale: row.scale, zeroCount: row.zero_count }),
        sum: row.sum,
        min: row.min,
        max: row.max,
        positive: { ...withoutDefaults({ offset: row.positive_offset }), bucketCounts: row.positive },
        negative: { ...withoutDefaults({ offset: row.negative_offset }), bucketCounts: row.negative },
      }
    case 'summary':
      return {
        ...withoutDefaults({ count: row.count }),
        sum: row.sum,
        quantileValues: (row.quantiles as number[]).map((quantile, index) => ({
          quantile,
          value: (row.quantile_values as number[])[index],
        })),
      }
  }
}
