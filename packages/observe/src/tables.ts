import type { Generated } from 'kysely'

/**
 * What the embedded store keeps.
 *
 * `*_ns` are nanoseconds since 1970 and do not fit into a JavaScript number: bind BigInts, and read them as text
 * (`exactText`). A time beyond the year 2262 is held as the last that fits; the item's own JSON has it unchanged.
 *
 * Rows of `spans`, `log_records` and `points` come in order of arrival, so the oldest have the smallest ids, and every
 * row that others refer to knows the last slice in which it was needed.
 */
export interface ObserveTables {
  slices: SliceTable
  services: ServiceTable
  documents: DocumentTable
  spans: SpanTable
  trace_parts: TracePartTable
  log_records: LogRecordTable
  series: SeriesTable
  points: PointTable
}

/** What arrived within one minute, or a part of it: the unit in which the oldest go. */
export interface SliceTable {
  id: Generated<number>
  started_ms: number
  rows: number
}

export interface ServiceTable {
  id: Generated<number>
  /** `service.name`. */
  key: string
  used_slice_id: number
}

/** Resources and scopes, each distinct one once: OTLP/JSON of the group around the items, without its list. */
export interface DocumentTable {
  id: Generated<number>
  /** Hash of the content, order of attributes apart. */
  key: string
  json: string
  used_slice_id: number
}

interface PlacedColumns {
  slice_id: number
  service_id: number
  resource_id: number
  scope_id: number
}

export interface SpanTable extends PlacedColumns {
  id: Generated<number>
  trace_id: string
  /** '' of a root. */
  parent_span_id: string
  name: string
  status_code: number
  start_ns: bigint
  /** The whole span in OTLP/JSON. */
  json: string
}

/** What one service has in one trace; service 0 stands for the whole trace. */
export interface TracePartTable {
  trace_id: string
  service_id: number
  first_ns: bigint
  last_ns: bigint
  spans: number
  errors: number
  used_slice_id: number
}

export interface LogRecordTable extends PlacedColumns {
  id: Generated<number>
  /** Of the record, else when it was observed, else when it came. */
  time_ns: bigint
  severity_number: number
  trace_id: string
  json: string
}

/** Metric name, kind, unit, resource, scope and attributes: whatever two points must share to lie on one line. */
export interface SeriesTable {
  id: Generated<number>
  key: string
  service_id: number
  resource_id: number
  scope_id: number
  name: string
  description: string
  unit: string
  type: string
  aggregation_temporality: number | null
  is_monotonic: number | null
  attributes_json: string
  used_slice_id: number
}

export interface PointTable {
  id: Generated<number>
  slice_id: number
  series_id: number
  time_ns: bigint
  /** The data point in OTLP/JSON, without its attributes. */
  json: string
}
