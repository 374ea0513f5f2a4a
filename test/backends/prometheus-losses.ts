import type { Metric, MetricData, Resource } from '@penstock/otlp'
import { promotedAttributes } from './prometheus-samples.ts'

type Point = MetricData['dataPoints'][number]

/** Something of a data point that Prometheus changes or does not store, by the name that docs/guides/backends.md has for it. */
export interface PrometheusLoss {
  readonly id: string
  readonly reason: string
  /** Whether a point has it. A test fails if no point of the fixtures has it. */
  applies(point: Point, metric: Metric, resource: Resource): boolean
}

const tenMinutesNs = 600_000_000_000n

/** Returns whether Prometheus refuses a point because of its time. */
export const isTooFarAhead = ({ timeUnixNano }: Point): boolean =>
  timeUnixNano > BigInt(Date.now()) * 1_000_000n + tenMinutesNs

export const prometheusLosses: readonly PrometheusLoss[] = [
  {
    id: 'dots in names of metrics and attributes',
    reason: 'underscores; counters end in `_total`, and durations in `_seconds`',
    applies: (_, { name }) => name.includes('.'),
  },
  {
    id: 'times in nanoseconds',
    reason: 'milliseconds, rounded down',
    applies: ({ timeUnixNano }) => timeUnixNano % 1_000_000n !== 0n,
  },
  {
    id: 'a point that is more than ten minutes in the future',
    reason: 'not stored: the whole request is answered with status 400',
    applies: isTooFarAhead,
  },
  {
    id: 'start time of a point',
    reason: 'not stored',
    applies: ({ startTimeUnixNano }) => startTimeUnixNano !== 0n,
  },
  {
    id: 'temporality',
    reason: 'not stored: a sample is what one pipeline adds, so use `sum_over_time` instead of `increase`',
    applies: (_, { data }) => data !== undefined && 'aggregationTemporality' in data,
  },
  {
    id: 'integers',
    reason: 'doubles',
    applies: (point) => 'value' in point && point.value?.type === 'int',
  },
  {
    id: 'histogram with a count per bucket',
    reason: 'series `_bucket` with the counts up to each bound, `_count` and `_sum`',
    applies: (point) => 'bucketCounts' in point,
  },
  {
    id: 'smallest and largest value of a histogram',
    reason: 'not stored; the exemplar has the largest value',
    applies: (point) => 'min' in point && point.min !== undefined,
  },
  {
    id: 'resource attributes that are not in `promote_resource_attributes`',
    reason: 'labels of `target_info` only, `service.name` as the label `job`',
    applies: (_, __, { attributes }) => attributes.some(({ key }) => !promotedAttributes.includes(key)),
  },
  {
    id: 'exemplars of gauges',
    reason: 'not stored',
    applies: (point, { data }) => data?.type === 'gauge' && 'exemplars' in point && point.exemplars.length > 0,
  },
  {
    id: 'description and unit',
    reason: 'not stored; the unit is part of the name',
    applies: (_, { description, unit }) => description !== '' && unit !== '',
  },
  {
    id: 'name and version of the scope',
    reason: 'not stored, unless `promote_scope_metadata` is set',
    applies: () => true,
  },
]

/** The changes that concern several pipelines, which the comparison itself finds. */
export const sharedSeriesLosses = [
  {
    id: 'points of pipelines of one trace with the same ref, name and status, such as two children',
    reason: 'samples of one series; if they end in the same millisecond, only one is stored',
  },
  {
    id: 'exemplars of such points',
    reason: 'stored in order of time only: one that arrives after a later one is dropped',
  },
] as const
