import { type Expression, type Kysely, type RawBuilder, type SqlBool, sql } from 'kysely'
import { type Position, type SearchedPage, toPage } from '../paging/cursor.ts'
import type { ResponseBudget } from '../paging/response-budget.ts'
import type { ObserveTables } from '../schema/tables.ts'
import { exactText, type TimeRange } from '../schema/time-range.ts'
import { isBetween, searchLogRecords } from './log-search.ts'
import { findServiceId } from './service-queries.ts'
import { type StoredContext, toStoredContext } from './stored-context.ts'

export interface LogQuery extends TimeRange {
  readonly service?: string | undefined
  /** OTLP's severity number; records below it are left out. */
  readonly minSeverity?: number | undefined
  readonly traceId?: string | undefined
  readonly spanId?: string | undefined
  /** A text in the body, in any case. */
  readonly text?: string | undefined
  readonly limit: number
  readonly after?: Position | undefined
}

export interface StoredLogRecord extends StoredContext {
  readonly service: string
  /** The time of the record, else when it was observed, else when it arrived. */
  readonly time_unix_nano: string
  /** The LogRecord in OTLP/JSON. */
  readonly record: object
}

/** Returns log records, the latest first. A page of a search can be short, or even empty, although there is a next one. */
export async function listLogRecords(
  db: Kysely<ObserveTables>,
  query: LogQuery,
  budget: ResponseBudget,
): Promise<SearchedPage<StoredLogRecord>> {
  const conditions = await logConditions(db, query)
  if (conditions === undefined) return { items: [], next: undefined, isLate: false }
  const { after, limit, text, spanId, traceId } = query
  if (text !== undefined || spanId !== undefined) {
    const { ids, next, isLate } = await searchLogRecords(
      db,
      { text, spanId, traceId },
      { conditions, range: query },
      { limit, after },
    )
    if (ids.length === 0) return { items: [], next, isLate }
    const rows = await budget.list(
      logRows(db).where('log_records.id', 'in', ids).orderBy('time_ns', 'desc').orderBy('log_records.id', 'desc'),
      listed,
    )
    const items = rows.map(({ item }) => item)
    return { items, next: rows.length < ids.length ? positionOf(rows.at(-1)!.row) : next, isLate }
  }
  const rows = await budget.list(
    logRows(db)
      .where(conditions)
      .where(isBetween(query, after))
      .orderBy('time_ns', 'desc')
      .orderBy('log_records.id', 'desc')
      .limit(limit + 1),
    listed,
  )
  return { ...toPage(rows, { limit, isTruncated: budget.isTruncated }, positionOf), isLate: false }
}

/** Returns the condition for rows of `log_records`, apart from their time; `undefined` if the service is unknown, so that no record matches. */
export async function logConditions(
  db: Kysely<ObserveTables>,
  query: Pick<LogQuery, 'service' | 'minSeverity' | 'traceId'>,
): Promise<Expression<SqlBool> | undefined> {
  const { service, minSeverity, traceId } = query
  const serviceId = service === undefined ? undefined : await findServiceId(db, service)
  if (service !== undefined && serviceId === undefined) return undefined
  return and([
    sql<boolean>`true`,
    ...(serviceId === undefined ? [] : [sql<boolean>`log_records.service_id = ${serviceId}`]),
    ...(minSeverity === undefined ? [] : [sql<boolean>`severity_number >= ${minSeverity}`]),
    // The second condition repeats that of the index literally, so that the index is used.
    ...(traceId === undefined ? [] : [sql<boolean>`trace_id = ${traceId} and trace_id <> ''`]),
  ])
}

const and = (conditions: readonly RawBuilder<boolean>[]): RawBuilder<boolean> =>
  sql<boolean>`(${sql.join(conditions, sql` and `)})`

/** Selects the columns of log records. */
export const logRows = (db: Kysely<ObserveTables>) =>
  db
    .selectFrom('log_records')
    .innerJoin('services', 'services.id', 'log_records.service_id')
    .innerJoin('documents as resource', 'resource.id', 'log_records.resource_id')
    .innerJoin('documents as scope', 'scope.id', 'log_records.scope_id')
    .select([
      'log_records.id',
      'services.key as service',
      exactText('time_ns').as('time_unix_nano'),
      'resource.json as resource_json',
      'scope.json as scope_json',
      'log_records.json as record_json',
    ])

export type LogRow = Awaited<ReturnType<ReturnType<typeof logRows>['execute']>>[number]

const positionOf = (row: LogRow): Position => [row.time_unix_nano, String(row.id)]

export const toStoredLogRecord = (row: LogRow): StoredLogRecord => ({
  service: row.service,
  time_unix_nano: row.time_unix_nano,
  ...toStoredContext(row),
  record: JSON.parse(row.record_json),
})

const listed = { toItem: toStoredLogRecord, positionOf }
