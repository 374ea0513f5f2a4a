import { type Kysely, sql } from 'kysely'
import type { ResponseBudget } from '../paging/response-budget.ts'
import { ROWS_PER_STATEMENT } from '../schema/chunks.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { exactText, rangeEnds } from '../schema/time-range.ts'
import {
  type GroupAttribute,
  type GroupName,
  IntervalTable,
  MAX_GROUP_KEYS,
  type MetricIntervals,
  type MetricIntervalsQuery,
  noIntervals,
  type Observations,
} from './metric-intervals.ts'
import { findServiceId } from './service-queries.ts'

/** The series and points that are read for one answer. The thread answers nothing else while it reads them. */
const MAX_SERIES = 20_000
const MAX_ATTRIBUTE_CHARACTERS = 16 * 1024 * 1024
const MAX_POINTS = 100_000
const MAX_POINT_CHARACTERS = 64 * 1024 * 1024

const DELTA = 1

interface Series extends GroupName {
  readonly id: number
  readonly service: string
  readonly temporality: number | null
}

/** Returns the sums of a metric's counters, or quantiles of its histograms, per interval over series. */
export async function findMetricIntervals(
  db: Kysely<ObserveTables>,
  query: MetricIntervalsQuery,
  budget: ResponseBudget,
): Promise<MetricIntervals> {
  const { type, series, isTruncated } = await seriesOf(db, query)
  if (type === null) return noIntervals(query)
  const groupOf = grouping(series, query)
  const table = new IntervalTable()
  const intervalNs = BigInt(query.intervalSeconds) * 1_000_000_000n
  const { sinceNs } = rangeEnds(query)
  const left = new Allowance(MAX_POINTS, MAX_POINT_CHARACTERS)
  for (let from = 0; from < series.length && !left.isSpent; from += ROWS_PER_STATEMENT) {
    const chunk = new Map(series.slice(from, from + ROWS_PER_STATEMENT).map((one) => [one.id, one]))
    let before: { readonly seriesId: number; readonly point: Point } | undefined
    for await (const { series_id, time_ns, json } of pointsOf(db, [...chunk.keys()], query).stream()) {
      if (!left.take(json.length)) break
      const one = chunk.get(series_id)!
      const point = readPoint(json)
      const previous = before?.seriesId === series_id ? before.point : undefined
      before = { seriesId: series_id, point }
      const added = one.temporality === DELTA ? point : increase(point, previous, sinceNs)
      if (added === undefined) continue
      const { key, name } = groupOf(one)
      const at = Number(BigInt(time_ns) / intervalNs)
      table.add(key, () => name, { at, amount: added.amount, observations: added.observations })
    }
  }
  return table.answer(query, { type, group_keys: groupKeys(series), truncated: isTruncated || left.isSpent, budget })
}

/** Returns the histograms of a metric with points in the range, or its monotonic sums if it has no histograms; the last used series first. */
async function seriesOf(db: Kysely<ObserveTables>, query: MetricIntervalsQuery) {
  const none = { type: null, series: [] as readonly Series[], isTruncated: false }
  const serviceId = query.service === undefined ? undefined : await findServiceId(db, query.service)
  if (query.service !== undefined && serviceId === undefined) return none
  const { sinceNs, untilNs } = rangeEnds(query)
  for (const type of ['histogram', 'sum'] as const) {
    const left = new Allowance(MAX_SERIES, MAX_ATTRIBUTE_CHARACTERS)
    const series: Series[] = []
    const rows = db
      .selectFrom('series')
      .innerJoin('services', 'services.id', 'series.service_id')
      .select(['series.id', 'services.key as service', 'aggregation_temporality as temporality', 'attributes_json'])
      .where('name', '=', query.name)
      .where('type', '=', type)
      .$if(type === 'sum', (select) => select.where('is_monotonic', '=', 1))
      .$if(serviceId !== undefined, (select) => select.where('series.service_id', '=', serviceId!))
      .where(
        sql<boolean>`exists (select 1 from points where series_id = series.id and time_ns >= ${sinceNs} and time_ns < ${untilNs})`,
      )
      .orderBy('series.used_slice_id', 'desc')
      .orderBy('series.id', 'desc')
      .stream()
    for await (const { attributes_json, ...row } of rows) {
      if (!left.take(attributes_json.length)) break
      series.push({ ...row, attributes: textsOf(JSON.parse(attributes_json)) })
    }
    if (series.length > 0) return { type, series, isTruncated: left.isSpent }
  }
  return none
}

interface KeyValueJson {
  readonly key?: string
  readonly value?: Readonly<Record<string, unknown>>
}

/** Returns attributes with their values as text, by key. */
function textsOf(attributes: readonly KeyValueJson[]): readonly GroupAttribute[] {
  const textOf = (value: KeyValueJson['value']) => {
    const plain = Object.values(value ?? {})[0] ?? ''
    return typeof plain === 'object' ? JSON.stringify(plain) : String(plain)
  }
  return attributes
    .map(({ key = '', value }) => ({ key, value: textOf(value) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
}

/** Returns the function that gives the group of a series. */
function grouping(
  series: readonly Series[],
  { groupBy, maxGroups }: MetricIntervalsQuery,
): (one: Series) => { readonly key: string; readonly name: GroupName } {
  if (groupBy !== undefined) {
    return ({ attributes }) => {
      const found = attributes.filter(({ key }) => key === groupBy)
      return { key: JSON.stringify(found), name: { service: null, attributes: found } }
    }
  }
  const keyOf = ({ service, attributes }: Series) => JSON.stringify([service, attributes])
  if (new Set(series.map(keyOf)).size > maxGroups) return () => ({ key: '', name: { service: null, attributes: [] } })
  return (one) => ({ key: keyOf(one), name: { service: one.service, attributes: one.attributes } })
}

function groupKeys(series: readonly Series[]): readonly string[] {
  const values = new Map<string, Set<string>>()
  for (const { attributes } of series) {
    for (const { key, value } of attributes) {
      const known = values.get(key) ?? new Set()
      // Two are enough to know that there are several.
      if (known.size < 2) values.set(key, known.add(value))
    }
  }
  const several = [...values].flatMap(([key, { size }]) => (size > 1 ? [key] : []))
  return several.sort().slice(0, MAX_GROUP_KEYS)
}

/** The rows and characters that may still be read. */
class Allowance {
  isSpent = false
  #rows: number
  #characters: number

  constructor(rows: number, characters: number) {
    this.#rows = rows
    this.#characters = characters
  }

  /** Returns whether a row may still be read. */
  take(characters: number): boolean {
    this.#rows -= 1
    this.#characters -= characters
    if (this.#rows < 0 || this.#characters < 0) this.isSpent = true
    return !this.isSpent
  }
}

const pointsOf = (db: Kysely<ObserveTables>, seriesIds: readonly number[], query: MetricIntervalsQuery) => {
  const { sinceNs, untilNs } = rangeEnds(query)
  return db
    .selectFrom('points')
    .select(['series_id', exactText('time_ns').as('time_ns'), 'json'])
    .where('series_id', 'in', seriesIds)
    .where('time_ns', '>=', sinceNs)
    .where('time_ns', '<', untilNs)
    .orderBy('series_id')
    .orderBy('points.time_ns')
    .orderBy('id')
}

interface Point {
  readonly startNs: bigint
  readonly amount: number
  readonly observations: Observations | undefined
}

interface PointJson {
  readonly startTimeUnixNano?: string
  readonly asDouble?: number | string
  readonly asInt?: string | number
  readonly count?: string | number
  readonly min?: number
  readonly max?: number
  readonly bucketCounts?: readonly (string | number)[]
  readonly explicitBounds?: readonly number[]
}

function readPoint(json: string): Point {
  const { startTimeUnixNano = '0', asDouble, asInt, count, bucketCounts, ...rest } = JSON.parse(json) as PointJson
  const { explicitBounds = [], min = null, max = null } = rest
  return {
    startNs: BigInt(startTimeUnixNano),
    amount: Number(asDouble ?? asInt ?? count ?? 0),
    observations: bucketCounts && { bounds: explicitBounds, counts: bucketCounts.map(Number), min, max },
  }
}

/**
 * Returns what a point of a cumulative series adds to the one before. After a reset, a series starts at zero again. The first point of a
 * series is included only if the series began within the range.
 */
function increase(point: Point, before: Point | undefined, sinceNs: bigint): Point | undefined {
  if (before === undefined) return point.startNs > 0n && point.startNs >= sinceNs ? point : undefined
  const hasSameBounds = point.observations?.bounds.join() === before.observations?.bounds.join()
  if (point.startNs !== before.startNs || point.amount < before.amount || !hasSameBounds) return point
  const counts = point.observations?.counts.map((count, index) => count - before.observations!.counts[index]!)
  return {
    startNs: point.startNs,
    amount: point.amount - before.amount,
    // The least and the greatest value of the series may be older.
    observations: counts && { bounds: point.observations!.bounds, counts, min: null, max: null },
  }
}
