import type {
  AnyValue,
  HistogramDataPoint,
  KeyValue,
  Metric,
  MetricData,
  NumberDataPoint,
  OtlpRequest,
  ResourceGroup,
  ScopeGroup,
} from '@penstock/otlp'

export type Point = NumberDataPoint | HistogramDataPoint

/** One point with its metric, scope and resource. The converter makes one point per stream of a run. */
export interface Stream {
  readonly group: ResourceGroup<Metric>
  readonly scope: ScopeGroup<Metric>
  readonly metric: Metric
  readonly point: Point
}

/**
 * Returns the points of a request by the identity of their streams: resource, scope, metric, attributes and, for
 * histograms, bounds. `merge` combines two points of the same stream.
 */
export function toStreams(
  request: OtlpRequest<'metrics'>,
  merge: (earlier: Stream, later: Stream) => Stream,
): Map<string, Stream> {
  const streams = new Map<string, Stream>()
  for (const group of request.resources) {
    for (const scope of group.scopes) {
      const scopeKey = `${groupKey(group)}\n${scope.scope.name}`
      for (const metric of scope.items) {
        for (const point of listPoints(metric)) {
          const key = `${scopeKey}\n${metric.name}\n${attributesKey(point.attributes)}${boundsKey(point)}`
          const stream = { group, scope, metric, point }
          const known = streams.get(key)
          streams.set(key, known === undefined ? stream : merge(known, stream))
        }
      }
    }
  }
  return streams
}

/** Returns the streams as a request, grouped by resource, scope and metric in order of first appearance. */
export function toRequest(streams: Iterable<Stream>, dataOf: (metric: Metric, points: Point[]) => MetricData) {
  const groups = new Map<string, { group: ResourceGroup<Metric>; scopes: Map<string, ScopeStreams> }>()
  for (const stream of streams) {
    const { scopes } = getOrAdd(groups, groupKey(stream.group), () => ({ group: stream.group, scopes: new Map() }))
    const { metrics } = getOrAdd(scopes, stream.scope.scope.name, () => ({ scope: stream.scope, metrics: new Map() }))
    const newMetric = (): MetricStreams => ({ metric: stream.metric, points: [] })
    getOrAdd(metrics, stream.metric.name, newMetric).points.push(stream.point)
  }
  return {
    resources: [...groups.values()].map(({ group, scopes }) => ({
      ...group,
      scopes: [...scopes.values()].map(({ scope, metrics }) => ({
        ...scope,
        items: [...metrics.values()].map(({ metric, points }) => ({ ...metric, data: dataOf(metric, points) })),
      })),
    })),
  } satisfies OtlpRequest<'metrics'>
}

interface ScopeStreams {
  readonly scope: ScopeGroup<Metric>
  readonly metrics: Map<string, MetricStreams>
}

interface MetricStreams {
  readonly metric: Metric
  readonly points: Point[]
}

function getOrAdd<Value>(map: Map<string, Value>, key: string, make: () => Value): Value {
  let value = map.get(key)
  if (value === undefined) {
    value = make()
    map.set(key, value)
  }
  return value
}

function listPoints({ data }: Metric): readonly Point[] {
  switch (data?.type) {
    case 'gauge':
    case 'sum':
    case 'histogram':
      return data.dataPoints
    default:
      return []
  }
}

const groupKey = (group: ResourceGroup<Metric>): string => attributesKey(group.resource.attributes)

/** Returns a key that depends on the types of the attributes and not on their order. */
function attributesKey(attributes: readonly KeyValue[]): string {
  return JSON.stringify(attributes.map((attribute) => [attribute.key, attribute.type, plain(attribute)]).sort())
}

function plain({ type, value }: AnyValue): unknown {
  return type === 'array' ? value.map(plain) : String(value)
}

const boundsKey = (point: Point): string => ('explicitBounds' in point ? point.explicitBounds.join() : '')
