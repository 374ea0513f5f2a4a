import type { Position, SearchedPage } from '../paging/cursor.ts'
import type { ResponseBudget } from '../paging/response-budget.ts'
import type { LogQuery, StoredLogRecord } from '../queries/log-queries.ts'
import { backwards } from './backwards.ts'
import { LOGS } from './schema/exporter-schema.ts'
import { attributesPart, type TextMap, withoutDefaults } from './schema/otlp-json.ts'
import { inRange, nanoseconds, readExtent, serviceName, storedServiceNames } from './schema/tables.ts'
import type { Source } from './source.ts'

interface LogRow {
  readonly ns: string
  readonly key: string
  readonly service: string
  readonly trace_id: string
  readonly span_id: string
  readonly flags: number
  readonly severity_text: string
  readonly severity: number
  readonly body: string
  readonly resource_schema_url: string
  readonly resource: TextMap
  readonly scope_schema_url: string
  readonly scope: string
  readonly scope_version: string
  readonly scope_attributes: TextMap
  readonly attributes: TextMap
  readonly event_name: string
}

/** A number for a record that fits into a cursor. Records with the same time and key are on one page. */
const recordKey = 'bitShiftRight(cityHash64(TraceId, SpanId, SeverityNumber), 1)'
const positionOf = ({ ns, key }: LogRow): Position => [ns, key]

export async function listLogRecords(
  source: Source,
  query: LogQuery,
  budget: ResponseBudget,
): Promise<SearchedPage<StoredLogRecord>> {
  const nothing = { items: [], next: undefined, isLate: false }
  const { db, schema } = source
  if (!schema.has(LOGS)) return nothing
  // The partitions of the table are those of this column, so its limits are known without reading it.
  const time = schema.hasColumn(LOGS, 'TimestampTime') ? 'TimestampTime' : 'Timestamp'
  const extent = await readExtent(db, LOGS, query, time)
  if (extent === undefined) return nothing
  const { limit, after } = query
  const { condition, parameters } = conditionsOf(query)
  const eventName = schema.hasColumn(LOGS, 'EventName') ? 'EventName' : "''"
  const batchRows = limit + 1
  const batches = backwards<LogRow>(
    // An index has the ids of traces.
    { ...extent, after, lowestKey: '0', batchRows, isWhole: query.traceId !== undefined },
    ({ from, to, after }) =>
      db.rows(
        `SELECT ${nanoseconds('Timestamp')} AS ns, ${recordKey} AS key, ${serviceName} AS service, TraceId AS trace_id,
           SpanId AS span_id, TraceFlags AS flags, SeverityText AS severity_text, SeverityNumber AS severity, Body AS body,
           ResourceSchemaUrl AS resource_schema_url, ResourceAttributes AS resource, ScopeSchemaUrl AS scope_schema_url,
           ScopeName AS scope, ScopeVersion AS scope_version, ScopeAttributes AS scope_attributes,
           LogAttributes AS attributes, ${eventName} AS event_name
         FROM ${LOGS} WHERE ${inRange} AND ${condition} AND (ns, key) < ({afterNs:Int64}, {afterKey:UInt64})
         ORDER BY ns DESC, key DESC LIMIT {limit:UInt32} WITH TIES`,
        {
          ...parameters,
          from: String(from),
          to: String(to),
          afterNs: after[0]!,
          afterKey: after[1]!,
          limit: batchRows,
        },
      ),
    positionOf,
  )
  const isLate = source.deadline()
  const items: StoredLogRecord[] = []
  let last: LogRow | undefined
  for await (const { rows, next } of batches) {
    for (const row of rows) {
      const isTied = last !== undefined && row.ns === last.ns && row.key === last.key
      const record = toStoredLogRecord(row)
      if ((items.length >= limit && !isTied) || !budget.take(record, positionOf(row))) {
        return { items, next: last && positionOf(last), isLate: false }
      }
      items.push(record)
      last = row
    }
    if (next !== undefined && isLate()) return { items, next, isLate: true }
  }
  return { items, next: undefined, isLate: false }
}

function conditionsOf({ service, minSeverity, traceId, spanId, text }: LogQuery) {
  const conditions = ['true']
  const parameters: Record<string, string | number | readonly string[]> = {}
  const add = (condition: string, name: string, value: string | number | readonly string[]) => {
    conditions.push(condition)
    parameters[name] = value
  }
  if (service !== undefined) add('ServiceName IN {services:Array(String)}', 'services', storedServiceNames(service))
  if (minSeverity !== undefined) add('SeverityNumber >= {severity:UInt8}', 'severity', minSeverity)
  if (traceId !== undefined) add('TraceId = {traceId:String}', 'traceId', traceId)
  if (spanId !== undefined) add('SpanId = {spanId:String}', 'spanId', spanId)
  if (text !== undefined) add('positionCaseInsensitiveUTF8(Body, {text:String}) > 0', 'text', text)
  return { condition: conditions.join(' AND '), parameters }
}

const toStoredLogRecord = (row: LogRow): StoredLogRecord => ({
  service: row.service,
  time_unix_nano: row.ns,
  resource: attributesPart(row.resource),
  resource_schema_url: row.resource_schema_url,
  scope: {
    ...withoutDefaults({ name: row.scope, version: row.scope_version }),
    ...attributesPart(row.scope_attributes),
  },
  scope_schema_url: row.scope_schema_url,
  record: {
    ...withoutDefaults({ timeUnixNano: row.ns, severityNumber: row.severity, severityText: row.severity_text }),
    ...(row.body !== '' && { body: { stringValue: row.body } }),
    ...attributesPart(row.attributes),
    ...withoutDefaults({
      flags: row.flags,
      traceId: row.trace_id,
      spanId: row.span_id,
      eventName: row.event_name,
    }),
  },
})
