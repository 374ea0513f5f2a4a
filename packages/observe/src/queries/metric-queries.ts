import { type Kysely, sql } from 'kysely'
import { type Page, type Position, toPage } from '../paging/cursor.ts'
import type { ResponseBudget } from '../paging/response-budget.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { rangeEnds, type TimeRange } from '../schema/time-range.ts'
import { findServiceId } from './service-queries.ts'
import { type StoredContext, toStoredContext } from './stored-context.ts'

export interface MetricName {
  readonly name: string
  /** `gauge`, `sum`, `histogram`, `exponentialHistogram`, `summary`. */
  readonly type: string
  readonly unit: string
  readonly description: string
  readonly series: number
}

export interface MetricNameQuery {
  readonly service?: string | undefined
  readonly limit: number
  readonly after?: Position | undefined
}

/** Returns metrics in the order of their names. */
export async function listMetricNames(
  db: Kysely<ObserveTables>,
  query: MetricNameQuery,
  budget: ResponseBudget,
): Promise<Page<MetricName>> {
  const serviceId = query.service === undefined ? undefined : await findServiceId(db, query.service)
  if (query.service !== undefined && serviceId === undefined) return { items: [], next: undefined }
  const { after, limit } = query
  const rows = await budget.list(
    db
      .selectFrom('series')
      .select((eb) => [
        'name',
        'type',
        'unit',
        eb.fn.max('description').as('description'),
        eb.fn.count<number>('id').as('series'),
      ])
      .$if(serviceId !== undefined, (select) => select.where('service_id', '=', serviceId!))
      .$if(after !== undefined, (select) => {
        const [name, type, unit] = after!
        return select.where(sql<boolean>`(name, type, unit) > (${name}, ${type}, ${unit})`)
      })
      .groupBy(['name', 'type', 'unit'])
      .orderBy('name')
      .orderBy('type')
      .orderBy('unit')
      .limit(limit + 1),
    { toItem: (row): MetricName => row, positionOf },
  )
  return toPage(rows, { limit, isTruncated: budget.isTruncated }, positionOf)
}

const positionOf = ({ name, type, unit }: MetricName): Position => [name, type, unit]

export interface MetricQuery extends TimeRange {
  readonly name: string
  readonly service?: string | undefined
  readonly maxSeries: number
  readonly maxPointsPerSeries: number
}

export interface StoredSeries extends StoredContext {
  readonly service: string
  readonly type: string
  readonly unit: string
  readonly description: string
  /** The number of the OTLP enum; `null` for metric types without temporality. */
  readonly aggregation_temporality: number | null
  readonly is_monotonic: boolean | null
  /** A list of KeyValue in OTLP/JSON. */
  readonly attributes: readonly object[]
  /** Data points in OTLP/JSON without attributes, in order of time; only the latest of the range if there are too many. */
  readonly points: readonly object[]
  readonly truncated: boolean
}

export interface StoredMetric {
  readonly name: string
  /** The series with the latest points in the range first; a series without one has an empty list of points. */
  readonly series: readonly StoredSeries[]
  readonly truncated: boolean
}

export async function findMetric(
  db: Kysely<ObserveTables>,
  query: MetricQuery,
  budget: ResponseBudget,
): Promise<StoredMetric> {
  const { name, maxSeries } = query
  const serviceId = query.service === undefined ? undefined : await findServiceId(db, query.service)
  if (query.service !== undefined && serviceId === undefined) return { name, series: [], truncated: false }
  const { sinceNs, untilNs } = rangeEnds(query)
  // Series without a point in the range come last. The order of arrival says nothing about telemetry that is sent later, all at once.
  const latestPoint = sql`(select time_ns from points where series_id = series.id and time_ns >= ${sinceNs}
    and time_ns < ${untilNs} order by time_ns desc limit 1)`
  const rows = await budget.list(
    db
      .selectFrom('series')
      .innerJoin('services', 'services.id', 'series.service_id')
      .innerJoin('documents as resource', 'resource.id', 'series.resource_id')
      .innerJoin('documents as scope', 'scope.id', 'series.scope_id')
      .selectAll('series')
      .select(['services.key as service', 'resource.json as resource_json', 'scope.json as scope_json'])
      .where('name', '=', name)
      .$if(serviceId !== undefined, (select) => select.where('series.service_id', '=', serviceId!))
      .orderBy(latestPoint, 'desc')
      .orderBy('series.used_slice_id', 'desc')
      .orderBy('series.id')
      .limit(maxSeries + 1),
    {
      toItem: (row): StoredSeries => ({
        service: row.service,
        ...toStoredContext(row),
        type: row.type,
        unit: row.unit,
        description: row.description,
        aggregation_temporality: row.aggregation_temporality,
        is_monotonic: row.is_monotonic === null ? null : row.is_monotonic === 1,
        attributes: JSON.parse(row.attributes_json),
        points: [],
        truncated: false,
      }),
    },
  )
  const series: StoredSeries[] = []
  for (const { row, item } of rows.slice(0, maxSeries)) {
    series.push({ ...item, ...(await pointsOf(db, row.id, query, budget)) })
  }
  return { name, series, truncated: rows.length > maxSeries || budget.isTruncated }
}

async function pointsOf(db: Kysely<ObserveTables>, seriesId: number, query: MetricQuery, budget: ResponseBudget) {
  const { sinceNs, untilNs } = rangeEnds(query)
  const rows = await budget.list(
    db
      .selectFrom('points')
      .select('json')
      .where('series_id', '=', seriesId)
      .where('time_ns', '>=', sinceNs)
      .where('time_ns', '<', untilNs)
      .orderBy('time_ns', 'desc')
      .orderBy('id', 'desc')
      .limit(query.maxPointsPerSeries + 1),
    { toItem: ({ json }): object => JSON.parse(json) },
  )
  const latest = rows.slice(0, query.maxPointsPerSeries).reverse()
  return {
    points: latest.map(({ item }) => item),
    truncated: rows.length > query.maxPointsPerSeries || budget.isTruncated,
  }
}
