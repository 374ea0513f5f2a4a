import { type Kysely, sql } from 'kysely'
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
): Promise<StoredLogRecord[]> {
  const serviceId = query.service === undefined ? undefined : await findServiceId(db, query.service)
  if (query.service !== undefined && serviceId === undefined) return []
  const { sinceNs, untilNs } = rangeEnds(query)
  const rows = await budget.list(
    db
      .selectFrom('log_records')
      .innerJoin('services', 'services.id', 'log_records.service_id')
      .innerJoin('documents as resource', 'resource.id', 'log_records.resource_id')
      .innerJoin('documents as scope', 'scope.id', 'log_records.scope_id')
      .select([
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
      .orderBy('time_ns', 'desc')
      .orderBy('log_records.id', 'desc')
      .limit(query.limit),
  )
  return rows.map((row) => ({
    service: row.service,
    time_unix_nano: row.time_unix_nano,
    ...toStoredContext(row),
    record: JSON.parse(row.record_json),
  }))
}
