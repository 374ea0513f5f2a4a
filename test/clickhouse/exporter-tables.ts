/**
 * The tables of the OpenTelemetry Collector's clickhouse exporter, as it creates them without settings of its own: columns, order,
 * partitions and indexes. Codecs are left out, because no answer depends on them.
 *
 * @see https://github.com/open-telemetry/opentelemetry-collector-contrib/tree/main/exporter/clickhouseexporter/internal/sqltemplates
 */

const map = 'Map(LowCardinality(String), String)'
const low = 'LowCardinality(String)'

const bloom = (name: string, expression: string, rate = 0.01) =>
  `INDEX ${name} ${expression} TYPE bloom_filter(${rate}) GRANULARITY 1`
const mapIndexes = (short: string, column: string) => [
  bloom(`idx_${short}_key`, `mapKeys(${column})`),
  bloom(`idx_${short}_value`, `mapValues(${column})`),
]

interface MergeTree {
  readonly columns: readonly string[]
  readonly indexes?: readonly string[]
  readonly engine?: string
  readonly partition: string
  readonly primary?: string
  readonly order: string
}

const create = (
  table: string,
  { columns, indexes = [], engine = 'MergeTree()', partition, primary, order }: MergeTree,
) =>
  `CREATE TABLE ${table} (${[...columns, ...indexes].join(', ')}) ENGINE = ${engine} PARTITION BY ${partition}
   ${primary === undefined ? '' : `PRIMARY KEY ${primary}`} ORDER BY ${order} SETTINGS index_granularity = 8192`

const traces = create('otel_traces', {
  columns: [
    'Timestamp DateTime64(9)',
    ...['TraceId', 'SpanId', 'ParentSpanId', 'TraceState'].map((name) => `${name} String`),
    ...['SpanName', 'SpanKind', 'ServiceName'].map((name) => `${name} ${low}`),
    `ResourceAttributes ${map}`,
    'ScopeName String',
    'ScopeVersion String',
    `SpanAttributes ${map}`,
    'Duration UInt64',
    `StatusCode ${low}`,
    'StatusMessage String',
    `Events Nested (Timestamp DateTime64(9), Name ${low}, Attributes ${map})`,
    `Links Nested (TraceId String, SpanId String, TraceState String, Attributes ${map})`,
  ],
  indexes: [
    bloom('idx_trace_id', 'TraceId', 0.001),
    ...mapIndexes('res_attr', 'ResourceAttributes'),
    ...mapIndexes('span_attr', 'SpanAttributes'),
    'INDEX idx_duration Duration TYPE minmax GRANULARITY 1',
  ],
  partition: 'toDate(Timestamp)',
  primary: '(ServiceName, SpanName, toDateTime(Timestamp))',
  order: '(ServiceName, SpanName, toDateTime(Timestamp), Timestamp)',
})

const traceRanges = create('otel_traces_trace_id_ts', {
  columns: [
    'TraceId String',
    'Start SimpleAggregateFunction(min, DateTime)',
    'End SimpleAggregateFunction(max, DateTime)',
  ],
  engine: 'AggregatingMergeTree()',
  partition: 'toStartOfWeek(Start)',
  order: '(TraceId)',
})

const traceRangesView = `CREATE MATERIALIZED VIEW otel_traces_trace_id_ts_mv TO otel_traces_trace_id_ts AS
  SELECT TraceId, min(Timestamp) AS Start, max(Timestamp) AS End FROM otel_traces WHERE TraceId != '' GROUP BY TraceId`

const logs = create('otel_logs', {
  columns: [
    'Timestamp DateTime64(9)',
    'TimestampTime DateTime DEFAULT toDateTime(Timestamp)',
    'TraceId String',
    'SpanId String',
    'TraceFlags UInt8',
    `SeverityText ${low}`,
    'SeverityNumber UInt8',
    `ServiceName ${low}`,
    'Body String',
    `ResourceSchemaUrl ${low}`,
    `ResourceAttributes ${map}`,
    `ScopeSchemaUrl ${low}`,
    'ScopeName String',
    `ScopeVersion ${low}`,
    `ScopeAttributes ${map}`,
    `LogAttributes ${map}`,
    'EventName String',
  ],
  indexes: [
    bloom('idx_trace_id', 'TraceId', 0.001),
    ...mapIndexes('res_attr', 'ResourceAttributes'),
    ...mapIndexes('scope_attr', 'ScopeAttributes'),
    ...mapIndexes('log_attr', 'LogAttributes'),
    'INDEX idx_body Body TYPE tokenbf_v1(32768, 3, 0) GRANULARITY 8',
  ],
  partition: 'toDate(TimestampTime)',
  primary: '(ServiceName, TimestampTime)',
  order: '(ServiceName, TimestampTime, Timestamp)',
})

const exemplars = `Exemplars Nested (FilteredAttributes ${map}, TimeUnix DateTime64(9), Value Float64, SpanId String, TraceId String)`

const metrics = (table: string, values: readonly string[]) =>
  create(table, {
    columns: [
      `ResourceAttributes ${map}`,
      'ResourceSchemaUrl String',
      'ScopeName String',
      'ScopeVersion String',
      `ScopeAttributes ${map}`,
      'ScopeDroppedAttrCount UInt32',
      'ScopeSchemaUrl String',
      `ServiceName ${low}`,
      'MetricName String',
      'MetricDescription String',
      'MetricUnit String',
      `Attributes ${map}`,
      'StartTimeUnix DateTime64(9)',
      'TimeUnix DateTime64(9)',
      'Flags UInt32',
      ...values,
    ],
    indexes: [
      ...mapIndexes('res_attr', 'ResourceAttributes'),
      ...mapIndexes('scope_attr', 'ScopeAttributes'),
      ...mapIndexes('attr', 'Attributes'),
    ],
    partition: 'toDate(TimeUnix)',
    order: '(ServiceName, MetricName, Attributes, toUnixTimestamp64Nano(TimeUnix))',
  })

const aggregated = ['Count UInt64', 'Sum Float64']
const extremes = ['Min Float64', 'Max Float64', 'AggregationTemporality Int32']

/** The statements that create all tables. */
export const exporterTables: readonly string[] = [
  traces,
  traceRanges,
  traceRangesView,
  logs,
  metrics('otel_metrics_gauge', ['Value Float64', exemplars]),
  metrics('otel_metrics_sum', ['Value Float64', exemplars, 'AggregationTemporality Int32', 'IsMonotonic Boolean']),
  metrics('otel_metrics_histogram', [
    ...aggregated,
    'BucketCounts Array(UInt64)',
    'ExplicitBounds Array(Float64)',
    exemplars,
    ...extremes,
  ]),
  metrics('otel_metrics_exponential_histogram', [
    ...aggregated,
    'Scale Int32',
    'ZeroCount UInt64',
    'PositiveOffset Int32',
    'PositiveBucketCounts Array(UInt64)',
    'NegativeOffset Int32',
    'NegativeBucketCounts Array(UInt64)',
    exemplars,
    ...extremes,
  ]),
  metrics('otel_metrics_summary', [...aggregated, 'ValueAtQuantiles Nested(Quantile Float64, Value Float64)']),
]
