import { MAX_SQL_INTEGER, rangeEnds, type TimeRange } from '../../schema/time-range.ts'
import { UNKNOWN_SERVICE } from '../../store/arrival.ts'
import type { ClickHouse, Parameters } from './clickhouse-client.ts'
import { type ExporterSchema, TRACE_RANGES } from './exporter-schema.ts'

/** The expression for a time column in nanoseconds. Some versions of the exporter store seconds in some columns. */
export const nanoseconds = (column: string): string => `toUnixTimestamp64Nano(toDateTime64(${column}, 9, 'UTC'))`

const NS_PER_SECOND = 1_000_000_000n

/**
 * Returns the first and the last time of a table within a range, with an exclusive end; `undefined` if it has no rows there.
 *
 * @param time the column of times; one of whole seconds gives a range that is up to a second too long
 */
export async function readExtent(
  db: ClickHouse,
  table: string,
  range: TimeRange,
  time = 'Timestamp',
): Promise<{ readonly oldestNs: bigint; readonly newestNs: bigint } | undefined> {
  const { rows, first, last } = await db.row<{ rows: string; first: string; last: string }>(
    `SELECT count() AS rows, ${nanoseconds(`min(${time})`)} AS first, ${nanoseconds(`max(${time})`)} AS last FROM ${table}`,
  )
  const { sinceNs, untilNs } = rangeEnds(range)
  const [oldest, newest] = [BigInt(first), BigInt(last) + (time === 'Timestamp' ? 1n : NS_PER_SECOND)]
  const extent = { oldestNs: sinceNs > oldest ? sinceNs : oldest, newestNs: untilNs < newest ? untilNs : newest }
  return rows === '0' || extent.oldestNs >= extent.newestNs ? undefined : extent
}

/** Returns the condition that a column of times is in the range `{from:Int64}` to `{to:Int64}`. */
export const inRangeCondition = (column: string): string =>
  `${column} >= fromUnixTimestamp64Nano({from:Int64}) AND ${column} < fromUnixTimestamp64Nano({to:Int64})`
export const inRange = inRangeCondition('Timestamp')

export interface TraceTimes extends Parameters {
  readonly from: string
  readonly to: string
}

/**
 * Returns the range in which the spans of some traces start, from the table of ranges; `undefined` if it has none of them. A database
 * without the table has to be searched as a whole.
 */
export async function readTraceTimes(
  db: ClickHouse,
  schema: ExporterSchema,
  ids: readonly string[],
): Promise<TraceTimes | undefined> {
  if (!schema.has(TRACE_RANGES)) return { from: '0', to: String(MAX_SQL_INTEGER) }
  const { rows, first, last } = await db.row<{ rows: string; first: string; last: string }>(
    `SELECT count() AS rows, ${nanoseconds('min(Start)')} AS first, ${nanoseconds('max(End)')} AS last
     FROM ${TRACE_RANGES} WHERE TraceId IN {ids:Array(String)}`,
    { ids },
  )
  // The table has whole seconds.
  return rows === '0' ? undefined : { from: first, to: String(BigInt(last) + NS_PER_SECOND) }
}

/** The name of a service, as the embedded store has it: the exporter stores '' for a service without a name. */
export const serviceName = `if(ServiceName = '', '${UNKNOWN_SERVICE}', toString(ServiceName))`

/** Returns the values of `ServiceName` that represent a service. */
export const storedServiceNames = (service: string): readonly string[] =>
  service === UNKNOWN_SERVICE ? [service, ''] : [service]
