import type {
  AnyValue,
  Exemplar,
  KeyValue,
  LogRecord,
  Metric,
  MetricData,
  OtlpRequest,
  ResourceGroup,
  ScopeGroup,
  Signal,
  Span,
} from '@penstock/otlp'

/** Rows by table, as the collector's clickhouse exporter writes them, in the form JSONEachRow. */
export type ExporterRows = Map<string, object[]>

const kinds = ['Unspecified', 'Internal', 'Server', 'Client', 'Producer', 'Consumer']
const statuses = ['Unset', 'Ok', 'Error']

/** Returns the rows of a decoded request. */
export function exporterRows(signal: Signal, request: OtlpRequest): ExporterRows {
  const rows: ExporterRows = new Map()
  const add = (table: string, row: object) => rows.set(table, [...(rows.get(table) ?? []), row])
  for (const resource of request.resources as readonly ResourceGroup<Span & LogRecord & Metric>[]) {
    for (const scope of resource.scopes) {
      for (const item of scope.items) {
        if (signal === 'traces') add('otel_traces', spanRow(resource, scope, item))
        else if (signal === 'logs') add('otel_logs', logRow(resource, scope, item))
        else for (const [table, row] of pointRows(resource, scope, item)) add(table, row)
      }
    }
  }
  return rows
}

type AnyResource = ResourceGroup<unknown & object>
type AnyScope = ScopeGroup<unknown & object>

function spanRow({ resource }: AnyResource, { scope }: AnyScope, span: Span): object {
  return {
    Timestamp: time(span.startTimeUnixNano),
    TraceId: span.traceId,
    SpanId: span.spanId,
    ParentSpanId: span.parentSpanId,
    TraceState: span.traceState,
    SpanName: span.name,
    SpanKind: kinds[span.kind] ?? '',
    ServiceName: serviceOf(resource.attributes),
    ResourceAttributes: mapOf(resource.attributes),
    ScopeName: scope.name,
    ScopeVersion: scope.version,
    SpanAttributes: mapOf(span.attributes),
    Duration: String(BigInt.asUintN(64, span.endTimeUnixNano - span.startTimeUnixNano)),
    StatusCode: statuses[span.status?.code ?? 0] ?? '',
    StatusMessage: span.status?.message ?? '',
    'Events.Timestamp': span.events.map((event) => time(event.timeUnixNano)),
    'Events.Name': span.events.map((event) => event.name),
    'Events.Attributes': span.events.map((event) => mapOf(event.attributes)),
    'Links.TraceId': span.links.map((link) => link.traceId),
    'Links.SpanId': span.links.map((link) => link.spanId),
    'Links.TraceState': span.links.map((link) => link.traceState),
    'Links.Attributes': span.links.map((link) => mapOf(link.attributes)),
  }
}

function logRow(around: AnyResource, { scope, schemaUrl }: AnyScope, record: LogRecord): object {
  return {
    Timestamp: time(record.timeUnixNano || record.observedTimeUnixNano),
    TraceId: record.traceId,
    SpanId: record.spanId,
    TraceFlags: record.flags & 0xff,
    SeverityText: record.severityText,
    SeverityNumber: record.severityNumber,
    ServiceName: serviceOf(around.resource.attributes),
    Body: record.body === undefined ? '' : textOf(record.body),
    ResourceSchemaUrl: around.schemaUrl,
    ResourceAttributes: mapOf(around.resource.attributes),
    ScopeSchemaUrl: schemaUrl,
    ScopeName: scope.name,
    ScopeVersion: scope.version,
    ScopeAttributes: mapOf(scope.attributes),
    LogAttributes: mapOf(record.attributes),
    EventName: record.eventName,
  }
}

const tables: Readonly<Record<MetricData['type'], string>> = {
  gauge: 'otel_metrics_gauge',
  sum: 'otel_metrics_sum',
  histogram: 'otel_metrics_histogram',
  exponentialHistogram: 'otel_metrics_exponential_histogram',
  summary: 'otel_metrics_summary',
}

function* pointRows(around: AnyResource, { scope, schemaUrl }: AnyScope, metric: Metric): Generator<[string, object]> {
  const { data } = metric
  if (data === undefined) return
  for (const point of data.dataPoints) {
    yield [
      tables[data.type],
      {
        ResourceAttributes: mapOf(around.resource.attributes),
        ResourceSchemaUrl: around.schemaUrl,
        ScopeName: scope.name,
        ScopeVersion: scope.version,
        ScopeAttributes: mapOf(scope.attributes),
        ScopeDroppedAttrCount: scope.droppedAttributesCount,
        ScopeSchemaUrl: schemaUrl,
        ServiceName: serviceOf(around.resource.attributes),
        MetricName: metric.name,
        MetricDescription: metric.description,
        MetricUnit: metric.unit,
        Attributes: mapOf(point.attributes),
        StartTimeUnix: time(point.startTimeUnixNano),
        TimeUnix: time(point.timeUnixNano),
        Flags: point.flags,
        ...('exemplars' in point && exemplarColumns(point.exemplars)),
        ...valueColumns(data, point),
      },
    ]
  }
}

function valueColumns(data: MetricData, point: MetricData['dataPoints'][number]): object {
  const about = {
    ...('aggregationTemporality' in data && { AggregationTemporality: data.aggregationTemporality }),
    ...('isMonotonic' in data && { IsMonotonic: data.isMonotonic }),
  }
  if ('value' in point) return { ...about, Value: Number(point.value?.value ?? 0) }
  const sums = { ...about, Count: String(point.count), Sum: point.sum ?? 0 }
  if ('quantileValues' in point) {
    return {
      ...sums,
      'ValueAtQuantiles.Quantile': point.quantileValues.map(({ quantile }) => quantile),
      'ValueAtQuantiles.Value': point.quantileValues.map(({ value }) => value),
    }
  }
  const withExtremes = { ...sums, Min: point.min ?? 0, Max: point.max ?? 0 }
  if ('explicitBounds' in point) {
    return { ...withExtremes, BucketCounts: point.bucketCounts.map(String), ExplicitBounds: point.explicitBounds }
  }
  return {
    ...withExtremes,
    Scale: point.scale,
    ZeroCount: String(point.zeroCount),
    PositiveOffset: point.positive?.offset ?? 0,
    PositiveBucketCounts: (point.positive?.bucketCounts ?? []).map(String),
    NegativeOffset: point.negative?.offset ?? 0,
    NegativeBucketCounts: (point.negative?.bucketCounts ?? []).map(String),
  }
}

const exemplarColumns = (exemplars: readonly Exemplar[]) => ({
  'Exemplars.FilteredAttributes': exemplars.map(({ filteredAttributes }) => mapOf(filteredAttributes)),
  'Exemplars.TimeUnix': exemplars.map(({ timeUnixNano }) => time(timeUnixNano)),
  'Exemplars.Value': exemplars.map(({ value }) => Number(value?.value ?? 0)),
  'Exemplars.SpanId': exemplars.map(({ spanId }) => spanId),
  'Exemplars.TraceId': exemplars.map(({ traceId }) => traceId),
})

const serviceOf = (attributes: readonly KeyValue[]): string => {
  const named = attributes.find(({ key }) => key === 'service.name')
  return named === undefined ? '' : textOf(named)
}

const mapOf = (attributes: readonly KeyValue[]): Record<string, string> =>
  Object.fromEntries(attributes.map((attribute) => [attribute.key, textOf(attribute)]))

/** Returns a value as the exporter writes it: `Value.AsString` of the collector. */
export function textOf(value: AnyValue): string {
  switch (value.type) {
    case 'string':
      return value.value
    case 'bool':
    case 'int':
    case 'double':
      return String(value.value)
    case 'bytes':
      return Buffer.from(value.value).toString('base64')
    case 'array':
    case 'kvlist':
      return JSON.stringify(plain(value))
    case 'empty':
      return ''
  }
}

function plain(value: AnyValue): unknown {
  switch (value.type) {
    case 'array':
      return value.value.map(plain)
    case 'kvlist':
      return Object.fromEntries(value.value.toSorted(byKey).map((entry) => [entry.key, plain(entry)]))
    case 'int':
      return Number(value.value)
    case 'bytes':
      return Buffer.from(value.value).toString('base64')
    default:
      return value.value ?? null
  }
}

const byKey = (a: KeyValue, b: KeyValue): number => (a.key < b.key ? -1 : 1)

/** Returns a time as a DateTime64(9): ClickHouse reads seconds with a fraction. */
const time = (ns: bigint): string =>
  `${String(ns / 1_000_000_000n).padStart(10, '0')}.${String(ns % 1_000_000_000n).padStart(9, '0')}`
