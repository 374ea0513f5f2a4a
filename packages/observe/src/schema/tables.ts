import type { ColumnType, Generated } from 'kysely'
import type { PipelineTables } from './pipeline-tables.ts'

/**
 * The tables of the embedded store.
 *
 * `*_ns` are nanoseconds since 1970 and do not fit into a JavaScript number: bind BigInts, and read them as text
 * (`exactText`). A time after the year 2262 is stored as the last one that fits; the item's JSON contains it unchanged.
 *
 * Rows of `spans`, `log_records` and `points` are inserted in the order of arrival, so the oldest have the smallest ids. Every row
 * that others refer to stores the last slice in which it was used.
 */
export interface ObserveTables extends PipelineTables {
  slices: SliceTable
  services: ServiceTable
  documents: DocumentTable
  spans: SpanTable
  trace_parts: TracePartTable
  trace_attributes: TraceAttributeTable
  log_records: LogRecordTable
  series: SeriesTable
  points: PointTable
}

/** The items that arrived within one minute or a part of it. Retention deletes whole slices. */
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

/**
 * The distinct resources and scopes. Each is stored as the OTLP/JSON of the group around the items, without the list of
 * items.
 */
export interface DocumentTable {
  id: Generated<number>
  /** A hash of the content that ignores the order of attributes. */
  key: string
  json: string
  used_slice_id: number
}

interface ItemColumns {
  slice_id: number
  service_id: number
  resource_id: number
  scope_id: number
}

export interface SpanTable extends ItemColumns {
  id: Generated<number>
  trace_id: string
  /** '' for a root span. */
  parent_span_id: string
  name: string
  status_code: number
  start_ns: bigint
  /** The whole span in OTLP/JSON. */
  json: string
  /** The length of `json`. SQLite computes it. */
  json_bytes: ColumnType<number, never, never>
}

/** A summary of the spans of one service in one trace; service 0 is the whole trace. */
export interface TracePartTable {
  trace_id: string
  service_id: number
  first_ns: bigint
  last_ns: bigint
  spans: number
  errors: number
  used_slice_id: number
}

/**
 * The attributes of all spans of a trace and of their resources, as a set of hashes of 3 bytes. A trace without a row, or
 * with `null`, may have any attribute.
 */
export interface TraceAttributeTable {
  id: Generated<number>
  trace_id: string
  pairs: Uint8Array | null
  used_slice_id: number
}

export interface LogRecordTable extends ItemColumns {
  id: Generated<number>
  /** The time of the record, else when it was observed, else when it arrived. */
  time_ns: bigint
  severity_number: number
  trace_id: string
  json: string
  /** The text of the body in JSON or as it is; `null` for some bodies. SQLite computes it. */
  body_text: ColumnType<string | null, never, never>
}

/** A time series: points with the same metric name, type, unit, resource, scope and attributes. */
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
