import { projectKeys, runKeys } from '../../runs/pipeline-attributes.ts'
import { LOGS, metricTables, TRACES } from '../schema/exporter-schema.ts'
import { resourceFacets, spanFacets, statusAttributes } from '../schema/facet-attributes.ts'
import { attributeValues, isPipelineSpan, isRunSpan, runResource, spanAttributes } from '../schema/span-conditions.ts'
import { inRangeCondition } from '../schema/tables.ts'

/**
 * The tables that Penstock can add to the database of a collector, with the views that fill them from the exporter's tables. A view adds
 * the rows of each insert. The rows that were there before it are added with the same statement, some at a time.
 *
 * Rows that are added twice do no harm: tables of spans replace rows with the same key, and the others keep the latest time.
 */
export interface Rollup {
  /** The name under which its progress is recorded. It contains the version: another definition needs another name. */
  readonly name: string
  /** The table that has to exist. */
  readonly source: string
  /** The column of times in the source that its parts are sorted by. */
  readonly time: string
  readonly tables: readonly RollupTable[]
  /** The views behind others come first, so that none misses rows. The last one reads the source. */
  readonly views: readonly RollupView[]
}

export interface RollupTable {
  readonly name: string
  readonly columns: readonly string[]
  readonly engine: string
  readonly partition?: string
  readonly order: string
  readonly settings?: string
  /** The column of times that its retention counts from. */
  readonly time: string
  /** The column with the name of the source, if the table has rows of several sources. */
  readonly sourceColumn?: string
}

export interface RollupView {
  readonly name: string
  readonly target: string
  readonly columns: readonly string[]
  /** Returns the statement that reads the rows of the source that meet a condition. */
  select(condition: string): string
}

export const PIPELINE_SPANS = 'penstock_pipeline_spans'
export const RUNS = 'penstock_pipeline_runs_2'
export const FACETS = 'penstock_pipeline_facets_2'
export const LIST_KEYS = 'penstock_list_attributes'
export const SERVICES = 'penstock_services'
/** The table of the progress of each rollup. */
export const MIGRATIONS = 'penstock_migrations'

const MAP = 'Map(LowCardinality(String), String)'
const LOW = 'LowCardinality(String)'
const TIME = 'Timestamp DateTime64(9) CODEC(Delta(8), ZSTD(1))'
const LAST = 'SimpleAggregateFunction(max, DateTime64(9))'
/** The newer of two equal spans is kept; other versions of a span stay beside it, because the derived run chooses among them. */
const SPAN_ENGINE = 'ReplacingMergeTree'
const versionOf = ['SpanAttributes', 'ResourceAttributes'].map((map) => `mapKeys(${map}), mapValues(${map})`).join(', ')

const pipelineSpans: RollupTable = {
  name: PIPELINE_SPANS,
  columns: [
    TIME,
    'Hour UInt32 CODEC(Delta(4), ZSTD(1))',
    ...['TraceId', 'SpanId', 'ParentSpanId'].map((name) => `${name} String CODEC(ZSTD(1))`),
    ...['SpanName', 'ServiceName'].map((name) => `${name} ${LOW} CODEC(ZSTD(1))`),
    'Duration UInt64 CODEC(ZSTD(1))',
    `StatusCode ${LOW} CODEC(ZSTD(1))`,
    `SpanAttributes ${MAP} CODEC(ZSTD(1))`,
    `ResourceAttributes ${MAP} CODEC(ZSTD(1))`,
    'IsRun UInt8',
    'SpanVersion UInt64 CODEC(ZSTD(1))',
    'ArrivedAt DateTime64(3) DEFAULT now64(3) CODEC(Delta(8), ZSTD(1))',
    'INDEX idx_arrived_at ArrivedAt TYPE minmax GRANULARITY 1',
  ],
  engine: SPAN_ENGINE,
  partition: 'toDate(Timestamp)',
  order: '(Hour, TraceId, SpanId, SpanVersion)',
  // The spans of one trace are read from one granule, so a small one is read faster.
  settings: 'index_granularity = 1024, ttl_only_drop_parts = 1',
  time: 'Timestamp',
}

const runs: RollupTable = {
  name: RUNS,
  columns: [
    TIME,
    'TraceId String CODEC(ZSTD(1))',
    'SpanId String CODEC(ZSTD(1))',
    `ServiceName ${LOW} CODEC(ZSTD(1))`,
    `StatusCode ${LOW} CODEC(ZSTD(1))`,
    ...['Refs', 'ProjectNames', 'ProjectUrls', 'Forges', 'StatusWords'].map(
      (name) => `${name} Array(${LOW}) CODEC(ZSTD(1))`,
    ),
    'Texts String CODEC(ZSTD(1))',
    'SpanVersion UInt64 CODEC(ZSTD(1))',
  ],
  engine: SPAN_ENGINE,
  partition: 'toDate(Timestamp)',
  order: '(Timestamp, TraceId, SpanId, SpanVersion)',
  settings: 'ttl_only_drop_parts = 1',
  time: 'Timestamp',
}

const facets: RollupTable = {
  name: FACETS,
  columns: [
    `ServiceName ${LOW}`,
    `StatusCode ${LOW}`,
    `SpanAttributes ${MAP}`,
    `ResourceAttributes ${MAP}`,
    `LastSeen ${LAST}`,
  ],
  engine: 'AggregatingMergeTree',
  order: '(ServiceName, StatusCode, SpanAttributes, ResourceAttributes)',
  time: 'LastSeen',
}

const facetKeys = ['ServiceName', 'StatusCode', 'SpanAttributes', 'ResourceAttributes']

const ofRuns = (values: (map: string) => string) =>
  `arrayConcat(${['SpanAttributes', 'ResourceAttributes'].map(values).join(', ')})`
const textKeys = [
  ...runKeys.ref,
  ...runKeys.commitMessage,
  ...runKeys.changeTitle,
  ...runKeys.username,
  ...runKeys.name,
  ...projectKeys.name,
  ...projectKeys.owner,
  ...projectKeys.url,
]

const pipelines: Rollup = {
  name: 'pipeline_spans_2',
  source: TRACES,
  time: 'Timestamp',
  tables: [pipelineSpans, runs, facets],
  views: [
    {
      name: `${FACETS}_mv`,
      target: FACETS,
      columns: [...facetKeys, 'LastSeen'],
      select: (condition) =>
        `SELECT ServiceName, StatusCode, span AS SpanAttributes, resource AS ResourceAttributes, max(Timestamp) AS LastSeen
         FROM (SELECT ServiceName, StatusCode, ${spanFacets} AS span, ${resourceFacets} AS resource, Timestamp
           FROM ${PIPELINE_SPANS} WHERE IsRun = 1 AND ${condition})
         GROUP BY ServiceName, StatusCode, span, resource`,
    },
    {
      name: `${RUNS}_mv`,
      target: RUNS,
      columns: [
        ...['Timestamp', 'TraceId', 'SpanId', 'ServiceName', 'StatusCode', 'Refs', 'ProjectNames', 'ProjectUrls'],
        'Forges',
        ...['StatusWords', 'Texts', 'SpanVersion'],
      ],
      select: (condition) =>
        `SELECT Timestamp, TraceId, SpanId, ServiceName, StatusCode, ${attributeValues('SpanAttributes', runKeys.ref)} AS Refs,
           ${ofRuns((map) => attributeValues(map, projectKeys.name))} AS ProjectNames,
           ${ofRuns((map) => attributeValues(map, projectKeys.url))} AS ProjectUrls,
           ${ofRuns((map) => attributeValues(map, projectKeys.forge))} AS Forges,
           ${attributeValues('SpanAttributes', statusAttributes)} AS StatusWords,
           arrayStringConcat(arrayConcat([toString(SpanName)], ${ofRuns((map) => attributeValues(map, textKeys))}), '\\n') AS Texts,
           SpanVersion
         FROM ${PIPELINE_SPANS} WHERE IsRun = 1 AND ${condition}`,
    },
    {
      name: `${PIPELINE_SPANS}_mv`,
      target: PIPELINE_SPANS,
      columns: [
        ...['Timestamp', 'Hour', 'TraceId', 'SpanId', 'ParentSpanId', 'SpanName', 'ServiceName', 'Duration'],
        ...['StatusCode', 'SpanAttributes', 'ResourceAttributes', 'IsRun', 'SpanVersion'],
      ],
      select: (condition) =>
        `SELECT Timestamp, toUInt32(intDiv(toUnixTimestamp64Nano(Timestamp), 3600000000000)) AS Hour, TraceId, SpanId,
           ParentSpanId, SpanName, ServiceName, toUInt64(Duration) AS Duration, StatusCode, span AS SpanAttributes,
           resource AS ResourceAttributes, is_run AS IsRun, version AS SpanVersion
         FROM (SELECT Timestamp, TraceId, SpanId, ParentSpanId, SpanName, ServiceName, Duration, StatusCode,
             ${spanAttributes} AS span, ${runResource} AS resource, ${isRunSpan} AS is_run,
             cityHash64(SpanId, Duration, StatusCode, ${versionOf}) AS version
           FROM ${TRACES} WHERE ${isPipelineSpan} AND ${condition})`,
    },
  ],
}

/** Keys of attributes that have had a list as value. Only these are compared with each text of a list. */
const listKeys: Rollup = {
  name: 'list_attributes_1',
  source: TRACES,
  time: 'Timestamp',
  tables: [
    {
      name: LIST_KEYS,
      columns: [`Key ${LOW}`, `LastSeen ${LAST}`],
      engine: 'AggregatingMergeTree',
      order: 'Key',
      time: 'LastSeen',
    },
  ],
  views: [
    {
      name: `${LIST_KEYS}_mv`,
      target: LIST_KEYS,
      columns: ['Key', 'LastSeen'],
      select: (condition) =>
        `SELECT key AS Key, max(Timestamp) AS LastSeen
         FROM (SELECT Timestamp, arrayJoin(arrayConcat(${['SpanAttributes', 'ResourceAttributes']
           .map((map) => `mapKeys(mapFilter((k, v) -> startsWith(v, '['), ${map}))`)
           .join(', ')})) AS key FROM ${TRACES} WHERE ${condition})
         GROUP BY key`,
    },
  ],
}

const servicesTable: RollupTable = {
  name: SERVICES,
  columns: [`Source ${LOW}`, `ServiceName ${LOW}`, `LastSeen ${LAST}`],
  engine: 'AggregatingMergeTree',
  order: '(Source, ServiceName)',
  time: 'LastSeen',
  sourceColumn: 'Source',
}

const servicesOf = (source: string, time: string): Rollup => ({
  name: 'services_1',
  source,
  time,
  tables: [servicesTable],
  views: [
    {
      name: `${SERVICES}_${source}_mv`,
      target: SERVICES,
      columns: ['Source', 'ServiceName', 'LastSeen'],
      select: (condition) =>
        `SELECT '${source}' AS Source, ServiceName, max(${time}) AS LastSeen FROM ${source} WHERE ${condition}
         GROUP BY ServiceName`,
    },
  ],
})

/** All rollups, those first that answer the slowest queries. */
export const rollups: readonly Rollup[] = [
  pipelines,
  listKeys,
  servicesOf(TRACES, 'Timestamp'),
  servicesOf(LOGS, 'Timestamp'),
  ...Object.values(metricTables).map((table) => servicesOf(table, 'TimeUnix')),
]

/** The names of all tables and views. */
export const rollupNames: readonly string[] = [
  MIGRATIONS,
  ...new Set(rollups.flatMap(({ tables, views }) => [...tables, ...views].map(({ name }) => name))),
]

export const migrationsTable = `CREATE TABLE IF NOT EXISTS ${MIGRATIONS} (Name String, Source String, Generation UInt32,
    FilledFrom Int64, At DateTime64(3) DEFAULT now64(3)) ENGINE = MergeTree ORDER BY (Name, Source, Generation)`

export const createTable = ({ name, columns, engine, partition, order, settings }: RollupTable): string =>
  `CREATE TABLE IF NOT EXISTS ${name} (${columns.join(', ')}) ENGINE = ${engine}
   ${partition === undefined ? '' : `PARTITION BY ${partition}`} ORDER BY ${order}
   ${settings === undefined ? '' : `SETTINGS ${settings}`}`

export const createView = ({ name, target, select }: RollupView): string =>
  `CREATE MATERIALIZED VIEW IF NOT EXISTS ${name} TO ${target} AS ${select('true')}`

/** Returns the statement that adds the rows of the source in the range `{from:Int64}` to `{to:Int64}`. */
export function fillStatement({ time, views }: Rollup): string {
  const { target, columns, select } = views.at(-1)!
  return `INSERT INTO ${target} (${columns.join(', ')}) ${select(inRangeCondition(time))}`
}
