import { type Kysely, sql } from 'kysely'
import { type Page, type Position, pageOf } from './cursor.ts'
import type { ResponseBudget } from './response-budget.ts'
import { findServiceId } from './service-queries.ts'
import { type StoredContext, toStoredContext } from './stored-context.ts'
import type { ObserveTables } from './tables.ts'
import { exactText, rangeEnds, type TimeRange } from './time-range.ts'

export interface LogQuery extends TimeRange {
  readonly service?: string | undefined
  /** OTLP's severity number; records below it are left out. */
  readonly minSeverity?: number | undefined
  readonly traceId?: string | undefined
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

/** Returns log records, the latest first. */
export async function listLogRecords(
  db: Kysely<ObserveTables>,
  query: LogQuery,
  budget: ResponseBudget,
): Promise<Page<StoredLogRecord>> {
  const serviceId = query.service === undefined ? undefined : await findServiceId(db, query.service)
  if (query.service !== undefined && serviceId === undefined) return { items: [], next: undefined }
  const { sinceNs, untilNs } = rangeEnds(query)
  const { after, limit } = query
  const rows = await budget.list(
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
      .where('time_ns', '>=', sinceNs)
      .where('time_ns', '<', untilNs)
      .$if(serviceId !== undefined, (select) => select.where('log_records.service_id', '=', serviceId!))
      .$if(query.minSeverity !== undefined, (select) => select.where('severity_number', '>=', query.minSeverity!))
      .$if(query.traceId !== undefined, (select) =>
        // The second condition repeats that of the index literally, so that the index is used.
        select.where('trace_id', '=', query.traceId!).where(sql<boolean>`trace_id <> ''`),
      )
      .$if(after !== undefined, (select) => {
        const [time, id] = after!.map(BigInt)
        return select.where(sql<boolean>`(time_ns, log_records.id) < (${time}, ${id})`)
      })
      .orderBy('time_ns', 'desc')
      .orderBy('log_records.id', 'desc')
      .limit(limit + 1),
  )
  const page = pageOf(rows, { limit, isTruncated: budget.isTruncated }, (row) => [row.time_unix_nano, String(row.id)])
  return { ...page, items: page.items.map(toStoredLogRecord) }
}

function toStoredLogRecord(row: {
  readonly service: string
  readonly time_unix_nano: string
  readonly resource_json: string
  readonly scope_json: string
  readonly record_json: string
}): StoredLogRecord {
  return {
    service: row.service,
    time_unix_nano: row.time_unix_nano,
    ...toStoredContext(row),
    record: JSON.parse(row.record_json),
  }
}
