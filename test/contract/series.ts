import type { HistogramDataPoint, KeyValue, Metric, NumberDataPoint, OtlpRequest } from '@penstock/otlp'
import { pointsOf } from './agent.ts'
import { seriesKey, type Total } from './expected-totals.ts'

export interface SeriesPoint {
  readonly metric: Metric
  readonly resource: readonly KeyValue[]
  readonly point: NumberDataPoint | HistogramDataPoint
}

/** Returns every data point of the requests, in order. */
export function allPoints(requests: readonly OtlpRequest<'metrics'>[]): SeriesPoint[] {
  return requests.flatMap(({ resources }) =>
    resources.flatMap(({ resource: { attributes }, scopes }) =>
      scopes.flatMap(({ items }) =>
        items.flatMap((metric) => pointsOf(metric).map((point) => ({ metric, resource: attributes, point }))),
      ),
    ),
  )
}

/** Returns whether a point belongs to a counter or histogram, which accumulate, and not to a gauge. */
export const isAccumulated = ({ metric }: SeriesPoint): boolean => metric.data?.type !== 'gauge'

/** Returns the last point of each series. */
export function lastTotals(points: readonly SeriesPoint[]): Map<string, Total> {
  return new Map(points.map((each) => [keyOf(each), totalOf(each.point)]))
}

export function keyOf({ metric, resource, point }: SeriesPoint): string {
  const text = (attributes: readonly KeyValue[], key: string): string | undefined => {
    const found = attributes.find((attribute) => attribute.key === key)
    return found === undefined ? undefined : String(found.value)
  }
  const label = (key: string) => text(point.attributes, key)
  return seriesKey({
    metric: metric.name,
    project: text(resource, 'vcs.repository.name')!,
    status: label('pipeline.status')!,
    ref: label('pipeline.ref')!,
    source: label('svc.cicd.pipeline.trigger.type')!,
    stage: label('job.stage'),
    errorType: label('error.type'),
  })
}

function totalOf(point: NumberDataPoint | HistogramDataPoint): Total {
  if ('bucketCounts' in point) {
    return { count: Number(point.count), sum: point.sum!, buckets: point.bucketCounts.map(Number) }
  }
  return { value: Number(point.value?.value) }
}
