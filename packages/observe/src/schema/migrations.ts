import type { Migrations } from '@penstock/db'
import {
  pipelineFactsMigration,
  pipelineMigration,
  pipelineSearchMigration,
  runForgeMigration,
  runKindMigration,
} from './pipeline-migration.ts'
import { statementsMigration } from './statements-migration.ts'

/** Ids are never reused (`autoincrement`), so their order is the order of arrival. */
const firstTables = [
  `create table slices (
    id integer primary key autoincrement, started_ms integer not null, rows integer not null)`,
  `create table services (
    id integer primary key autoincrement, key text not null unique, used_slice_id integer not null)`,
  `create table documents (
    id integer primary key autoincrement, key text not null unique, json text not null, used_slice_id integer not null)`,
  `create table spans (
    id integer primary key autoincrement, slice_id integer not null, service_id integer not null,
    resource_id integer not null, scope_id integer not null, trace_id text not null, parent_span_id text not null,
    name text not null, status_code integer not null, start_ns integer not null, json text not null)`,
  'create index spans_by_trace on spans (trace_id)',
  `create index roots_by_trace on spans (trace_id) where parent_span_id = ''`,
  `create table trace_parts (
    trace_id text not null, service_id integer not null, first_ns integer not null, last_ns integer not null,
    spans integer not null, errors integer not null, used_slice_id integer not null,
    primary key (trace_id, service_id)) without rowid`,
  'create index trace_parts_by_time on trace_parts (service_id, first_ns)',
  `create table log_records (
    id integer primary key autoincrement, slice_id integer not null, service_id integer not null,
    resource_id integer not null, scope_id integer not null, time_ns integer not null,
    severity_number integer not null, trace_id text not null, json text not null)`,
  'create index log_records_by_time on log_records (time_ns)',
  'create index log_records_by_service on log_records (service_id, time_ns)',
  `create index log_records_by_trace on log_records (trace_id) where trace_id <> ''`,
  `create table series (
    id integer primary key autoincrement, key text not null unique, service_id integer not null,
    resource_id integer not null, scope_id integer not null, name text not null, description text not null,
    unit text not null, type text not null, aggregation_temporality integer, is_monotonic integer,
    attributes_json text not null, used_slice_id integer not null)`,
  'create index series_by_name on series (name, service_id)',
  'create index series_by_service on series (service_id, name)',
  `create table points (
    id integer primary key autoincrement, slice_id integer not null, series_id integer not null,
    time_ns integer not null, json text not null)`,
  'create index points_by_time on points (series_id, time_ns)',
  ...['services', 'documents', 'trace_parts', 'series'].map(
    (table) => `create index ${table}_by_use on ${table} (used_slice_id)`,
  ),
]

const traceAttributes = [
  `create table trace_attributes (
    id integer primary key autoincrement, trace_id text not null unique, pairs blob, used_slice_id integer not null)`,
  'create index trace_attributes_by_use on trace_attributes (used_slice_id)',
  // Holds every column that a list of traces selects and filters by, so that it reads nothing else.
  'drop index trace_parts_by_time',
  'create index trace_parts_by_start on trace_parts (service_id, first_ns, trace_id, last_ns, spans, errors)',
]

/** These hold the severity, so that a query for errors does not read the records that it skips. */
const logIndexes = [
  'drop index log_records_by_time',
  'drop index log_records_by_service',
  'create index log_records_by_time on log_records (time_ns, id, severity_number)',
  'create index log_records_by_service on log_records (service_id, time_ns, id, severity_number)',
]

/**
 * The text that a search compares, as an index in order of time: the body of a record, as JSON if it is not a text. `null` for a
 * long one, and for one with the character NUL, at which SQLite ends a text; these are read from the records.
 */
const logTexts = [
  `alter table log_records add column body_text text generated always as (
    case
      when instr(json, '\\u0000') > 0 then null
      when length(json_extract(json, '$.body')) > 1000 then null
      else coalesce(json_extract(json, '$.body.stringValue'), json_extract(json, '$.body'), '')
    end) virtual`,
  'create index log_records_by_text on log_records (time_ns, id, service_id, severity_number, body_text)',
]

/** Has the places of a trace's spans in order of their start, so that a page of a trace reads the rows only once. */
const spanPlaces = [
  'alter table spans add column json_bytes integer generated always as (octet_length(json)) virtual',
  'drop index spans_by_trace',
  'create index spans_by_trace on spans (trace_id, start_ns, id, resource_id, scope_id, json_bytes)',
]

export const migrations: Migrations = {
  '0001_telemetry': statementsMigration(firstTables),
  '0002_pipeline_runs': pipelineMigration,
  '0003_trace_attributes': statementsMigration(traceAttributes),
  '0004_log_severity': statementsMigration(logIndexes),
  '0005_pipeline_facts': pipelineFactsMigration,
  '0006_pipeline_search': pipelineSearchMigration,
  '0007_log_texts': statementsMigration(logTexts),
  '0008_span_places': statementsMigration(spanPlaces),
  '0009_run_kinds': runKindMigration,
  '0010_run_forges': runForgeMigration,
}
