import {
  AggregationTemporality,
  type Exemplar,
  type HistogramDataPoint,
  type KeyValue,
  type Metric,
  type MetricData,
  type NumberDataPoint,
  type OtlpRequest,
} from '@penstock/otlp'
import { type AccumulatorState, accumulate } from './accumulate.ts'

export type Metrics = OtlpRequest<'metrics'>

export const text = (key: string, value: string): KeyValue => ({ key, type: 'string', value })
export const stage = (value: string): KeyValue[] => [text('job.stage', value)]
export const { DELTA, CUMULATIVE } = AggregationTemporality

export function exemplar(value: number): Exemplar {
  const traceId = String(value).padStart(32, '1')
  return { filteredAttributes: [], timeUnixNano: 1n, value: { type: 'double', value }, spanId: '', traceId }
}

export interface PointParts {
  readonly attributes?: KeyValue[]
  readonly timeNs?: bigint
  readonly exemplars?: Exemplar[]
}

export const frame = ({ attributes = [], timeNs = 9n, exemplars = [] }: PointParts) => ({
  attributes,
  startTimeUnixNano: 5n,
  timeUnixNano: timeNs,
  exemplars,
  flags: 0,
})

export const metric = (name: string, data: MetricData): Metric => ({
  name,
  description: '',
  unit: 's',
  data,
  metadata: [],
})

export const counter = (value: bigint, parts: PointParts = {}): Metric =>
  metric('runs', {
    type: 'sum',
    dataPoints: [{ ...frame(parts), value: { type: 'int', value } }],
    aggregationTemporality: DELTA,
    isMonotonic: true,
  })

export const gauge = (value: number, parts: PointParts = {}): Metric =>
  metric('seconds', {
    type: 'gauge',
    dataPoints: [{ ...frame(parts), startTimeUnixNano: 0n, value: { type: 'double', value } }],
  })

export function histogram(samples: number[], parts: PointParts & { bounds?: number[] } = {}): Metric {
  const { bounds = [10, 100] } = parts
  const bucketCounts = [...bounds, Number.POSITIVE_INFINITY].map((bound, i) =>
    BigInt(samples.filter((sample) => sample <= bound && sample > (bounds[i - 1] ?? 0)).length),
  )
  const dataPoint = {
    ...frame(parts),
    count: BigInt(samples.length),
    sum: samples.reduce((a, b) => a + b),
    bucketCounts,
    explicitBounds: bounds,
    min: Math.min(...samples),
    max: Math.max(...samples),
  }
  return metric('durations', { type: 'histogram', dataPoints: [dataPoint], aggregationTemporality: DELTA })
}

/** Returns a request with one resource group per run; runs of one project have equal resources. */
export function request(...runs: { project?: string; metrics: Metric[] }[]): Metrics {
  return {
    resources: runs.map(({ project = 'tide-tables', metrics }) => ({
      resource: { attributes: [text('service.name', project)], droppedAttributesCount: 0 },
      scopes: [
        {
          scope: { name: 'svc-ci-metrics', version: '1', attributes: [], droppedAttributesCount: 0 },
          items: metrics,
          schemaUrl: '',
        },
      ],
      schemaUrl: '',
    })),
  }
}

export const run = (...metrics: Metric[]) => ({ metrics })

export const toMetrics = ({ resources }: Metrics): Metric[] =>
  resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))

export function listPoints(from: Metrics): (NumberDataPoint & HistogramDataPoint)[] {
  return toMetrics(from).flatMap(({ data }) => (data?.dataPoints ?? []) as (NumberDataPoint & HistogramDataPoint)[])
}

export const listWindows = (from: Metrics) =>
  listPoints(from).map((point) => [point.startTimeUnixNano, point.timeUnixNano])
export const listValues = (from: Metrics) => listPoints(from).map((point) => point.value?.value)

/** Exports several requests, one after the other. */
export function exportWindows(
  start: AccumulatorState,
  steps: readonly (readonly [nowNs: bigint, request: Metrics])[],
  maxStreams = 100,
) {
  let state = start
  const exported: Metrics[] = []
  for (const [nowNs, next] of steps) {
    const result = accumulate(state, next, nowNs, { maxStreams })
    exported.push(result.request)
    state = result.state
  }
  return { exported, state }
}
