import {
  AggregationTemporality,
  type HistogramDataPoint,
  type Metric,
  type MetricData,
  type NumberDataPoint,
  type NumberValue,
  type OtlpRequest,
} from '@penstock/otlp'
import { type Point, type Stream, toRequest, toStreams } from './streams.ts'

/**
 * The state of the metric streams after the last export. It is plain data that the caller stores, as a whole or one row
 * per stream. A call of `accumulate` needs only the streams of the points that are merged.
 */
export interface AccumulatorState {
  readonly mode: 'windowed' | 'cumulative'
  /** The start of a new stream's first window: the process start, or a later time after streams have been evicted. */
  readonly startNs: bigint
  /** The time of the last exported points. The points of the next export get a later time. */
  readonly lastNs: bigint
  readonly streams: ReadonlyMap<string, StreamState>
}

export interface StreamState {
  /** The start time of the stream's points under `cumulative`. */
  readonly startNs: bigint
  /** The time of the stream's last export. */
  readonly lastNs: bigint
  /** The running total; `undefined` under `windowed`. */
  readonly total: Point | undefined
}

export interface AccumulatorLimits {
  /**
   * The number of streams to keep. The least recently exported ones are evicted. If such a stream returns, its window
   * begins later, or its total restarts at zero.
   */
  readonly maxStreams: number
}

/** The number of exemplars that a merged point keeps, latest last. */
const MAX_EXEMPLARS = 8

export function newAccumulator(mode: AccumulatorState['mode'], nowNs: bigint): AccumulatorState {
  return { mode, startNs: nowNs, lastNs: nowNs, streams: new Map() }
}

/**
 * Merges `per-run` points into one point per stream: the sum over the window since the stream's last export, or its
 * running total. The result contains only streams that have a point in `request`. Gauges keep their last value.
 *
 * `request` comes from `convert` with the same `metricsMode`. In these modes the resource has no trace id, so that
 * different runs share their streams.
 *
 * @returns the request to send, and the state to store after the request has been accepted
 */
export function accumulate(
  state: AccumulatorState,
  request: OtlpRequest<'metrics'>,
  nowNs: bigint,
  limits: AccumulatorLimits = { maxStreams: 50_000 },
): { readonly request: OtlpRequest<'metrics'>; readonly state: AccumulatorState } {
  const timeNs = nowNs > state.lastNs ? nowNs : state.lastNs + 1n
  const streams = new Map(state.streams)
  const advanced: Stream[] = []
  for (const [key, stream] of toStreams(request, mergedStreams)) {
    const known = streams.get(key)
    const next = state.mode === 'windowed' ? windowed(state, known) : cumulative(state, known, stream)
    const startTimeUnixNano = stream.metric.data?.type === 'gauge' ? 0n : next.startNs
    const point = { ...(next.total ?? stream.point), startTimeUnixNano, timeUnixNano: timeNs }
    advanced.push({ ...stream, point })
    // Deleting the entry first keeps the map in the order of the last export.
    streams.delete(key)
    // Each exemplar is exported once.
    streams.set(key, { ...next, total: next.total && { ...next.total, exemplars: [] }, lastNs: timeNs })
  }
  const startNs = evictOldest(streams, limits.maxStreams, state.startNs)
  return {
    request: toRequest(advanced, (metric, points) => dataOf(metric, points, state.mode)),
    state: { mode: state.mode, startNs, lastNs: timeNs, streams },
  }
}

type NextTotal = Pick<StreamState, 'startNs' | 'total'>

function windowed(state: AccumulatorState, known: StreamState | undefined): NextTotal {
  return { startNs: known?.lastNs ?? state.startNs, total: undefined }
}

function cumulative(state: AccumulatorState, known: StreamState | undefined, { metric, point }: Stream): NextTotal {
  // A start equal to the time would mean "unknown". The last export is later than any point of an evicted total.
  if (known?.total === undefined) return { startNs: state.lastNs, total: point }
  return { startNs: known.startNs, total: mergedPoints(metric, known.total, point) }
}

/**
 * @returns the time at which windows of new streams begin, which is not before the last export of any evicted stream
 */
function evictOldest(streams: Map<string, StreamState>, maxStreams: number, startNs: bigint): bigint {
  let begin = startNs
  for (const [key, { lastNs }] of streams) {
    if (streams.size <= maxStreams) break
    streams.delete(key)
    if (lastNs > begin) begin = lastNs
  }
  return begin
}

const mergedStreams = (earlier: Stream, later: Stream): Stream => ({
  ...later,
  point: mergedPoints(later.metric, earlier.point, later.point),
})

function mergedPoints(metric: Metric, a: Point, b: Point): Point {
  if (metric.data?.type === 'gauge') return b.timeUnixNano >= a.timeUnixNano ? b : a
  const exemplars = [...a.exemplars, ...b.exemplars].slice(-MAX_EXEMPLARS)
  const timeUnixNano = b.timeUnixNano > a.timeUnixNano ? b.timeUnixNano : a.timeUnixNano
  if ('bucketCounts' in a && 'bucketCounts' in b) return { ...b, ...mergedDistribution(a, b), exemplars, timeUnixNano }
  const [x, y] = [a as NumberDataPoint, b as NumberDataPoint]
  return { ...y, value: sumOf(x.value, y.value), exemplars, timeUnixNano }
}

function mergedDistribution(a: HistogramDataPoint, b: HistogramDataPoint) {
  return {
    count: a.count + b.count,
    sum: (a.sum ?? 0) + (b.sum ?? 0),
    bucketCounts: a.bucketCounts.map((count, i) => count + b.bucketCounts[i]!),
    min: extreme(Math.min, a.min, b.min),
    max: extreme(Math.max, a.max, b.max),
  }
}

const extreme = (pick: (a: number, b: number) => number, a: number | undefined, b: number | undefined) =>
  a === undefined ? b : b === undefined ? a : pick(a, b)

function sumOf(a: NumberValue | undefined, b: NumberValue | undefined): NumberValue | undefined {
  if (a === undefined || b === undefined) return a ?? b
  if (a.type === 'int' && b.type === 'int') return { type: 'int', value: a.value + b.value }
  return { type: 'double', value: Number(a.value) + Number(b.value) }
}

function dataOf(metric: Metric, points: Point[], mode: AccumulatorState['mode']): MetricData {
  const aggregationTemporality = mode === 'windowed' ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE
  const data = metric.data as Extract<MetricData, { type: 'gauge' | 'sum' | 'histogram' }>
  return (
    data.type === 'gauge' ? { ...data, dataPoints: points } : { ...data, dataPoints: points, aggregationTemporality }
  ) as MetricData
}
