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
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { convert } from '../convert.ts'
import { resolveOptions } from '../options.ts'
import { readInput } from '../sources/input.ts'
import { type AccumulatorState, accumulate, newAccumulator } from './accumulate.ts'

type Metrics = OtlpRequest<'metrics'>

const text = (key: string, value: string): KeyValue => ({ key, type: 'string', value })
const stage = (value: string): KeyValue[] => [text('job.stage', value)]
const { DELTA, CUMULATIVE } = AggregationTemporality

function exemplar(value: number): Exemplar {
  const traceId = String(value).padStart(32, '1')
  return { filteredAttributes: [], timeUnixNano: 1n, value: { type: 'double', value }, spanId: '', traceId }
}

interface PointParts {
  readonly attributes?: KeyValue[]
  readonly timeNs?: bigint
  readonly exemplars?: Exemplar[]
}

const frame = ({ attributes = [], timeNs = 9n, exemplars = [] }: PointParts) => ({
  attributes,
  startTimeUnixNano: 5n,
  timeUnixNano: timeNs,
  exemplars,
  flags: 0,
})

const metric = (name: string, data: MetricData): Metric => ({ name, description: '', unit: 's', data, metadata: [] })

const counter = (value: bigint, parts: PointParts = {}): Metric =>
  metric('runs', {
    type: 'sum',
    dataPoints: [{ ...frame(parts), value: { type: 'int', value } }],
    aggregationTemporality: DELTA,
    isMonotonic: true,
  })

const gauge = (value: number, parts: PointParts = {}): Metric =>
  metric('seconds', {
    type: 'gauge',
    dataPoints: [{ ...frame(parts), startTimeUnixNano: 0n, value: { type: 'double', value } }],
  })

function histogram(samples: number[], parts: PointParts & { bounds?: number[] } = {}): Metric {
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

/** One resource group per project; several runs of one project are several groups. */
function request(...runs: { project?: string; metrics: Metric[] }[]): Metrics {
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

const run = (...metrics: Metric[]) => ({ metrics })

const metricsOf = ({ resources }: Metrics): Metric[] =>
  resources.flatMap(({ scopes }) => scopes.flatMap(({ items }) => items))

function pointsOf(from: Metrics): (NumberDataPoint & HistogramDataPoint)[] {
  return metricsOf(from).flatMap(({ data }) => (data?.dataPoints ?? []) as (NumberDataPoint & HistogramDataPoint)[])
}

const windowOf = (from: Metrics) => pointsOf(from).map((point) => [point.startTimeUnixNano, point.timeUnixNano])
const valuesOf = (from: Metrics) => pointsOf(from).map((point) => point.value?.value)

/** The exports of several requests, one after the other. */
function exportsOf(
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

describe('windowed', () => {
  const start = newAccumulator('windowed', 100n)

  test('a window begins where the last one of its stream ended, the first at the start of the process', () => {
    const north = request({ project: 'north', metrics: [counter(1n)] })
    const south = request({ project: 'south', metrics: [counter(1n)] })
    const { exported } = exportsOf(start, [
      [200n, north],
      [300n, south],
      [400n, north],
    ])
    expect(exported.map(windowOf)).toEqual([[[100n, 200n]], [[100n, 300n]], [[200n, 400n]]])
  })

  test('time moves on when the clock stands still or goes back', () => {
    const one = request(run(counter(1n)))
    const { exported, state } = exportsOf(start, [
      [200n, one],
      [200n, one],
      [150n, one],
      [50n, one],
      [300n, one],
    ])
    expect(exported.flatMap(windowOf)).toEqual([
      [100n, 200n],
      [200n, 201n],
      [201n, 202n],
      [202n, 203n],
      [203n, 300n],
    ])
    expect(state.lastNs).toBe(300n)
  })

  test('points of different runs merge into one', () => {
    const { exported } = exportsOf(start, [
      [200n, request(run(counter(1n), histogram([5, 50])), run(counter(2n), histogram([500])))],
    ])
    expect(exported[0]!.resources).toHaveLength(1)
    const [count, durations] = pointsOf(exported[0]!)
    expect(count!.value).toEqual({ type: 'int', value: 3n })
    expect(durations).toMatchObject({ count: 3n, sum: 555, bucketCounts: [1n, 1n, 1n], min: 5, max: 500 })
  })

  test('nothing of one window is in the next', () => {
    const { exported } = exportsOf(start, [
      [200n, request(run(counter(5n)))],
      [300n, request(run(counter(2n)))],
    ])
    expect(exported.map(valuesOf)).toEqual([[5n], [2n]])
  })

  test('sums and histograms are delta', () => {
    const { exported } = exportsOf(start, [[200n, request(run(counter(1n), histogram([5]), gauge(3)))]])
    expect(
      metricsOf(exported[0]!).map(({ data }) => [
        data?.type,
        (data as { aggregationTemporality?: number }).aggregationTemporality,
      ]),
    ).toEqual([
      ['sum', DELTA],
      ['histogram', DELTA],
      ['gauge', undefined],
    ])
  })

  test('a gauge keeps the value of the latest point, however they come, and has no start', () => {
    const early = run(gauge(1, { timeNs: 10n }))
    const late = run(gauge(2, { timeNs: 20n }))
    for (const both of [request(early, late), request(late, early)]) {
      const { exported } = exportsOf(start, [[200n, both]])
      expect(valuesOf(exported[0]!)).toEqual([2])
      expect(windowOf(exported[0]!)).toEqual([[0n, 200n]])
    }
  })

  test('of two gauge points of one time the later in the request counts', () => {
    const { exported } = exportsOf(start, [[200n, request(run(gauge(1)), run(gauge(2)))]])
    expect(valuesOf(exported[0]!)).toEqual([2])
  })

  test('exemplars of all runs are kept, the latest eight', () => {
    const runs = Array.from({ length: 10 }, (_, i) => run(counter(1n, { exemplars: [exemplar(i)] })))
    const { exported } = exportsOf(start, [[200n, request(...runs)]])
    expect(pointsOf(exported[0]!)[0]!.exemplars).toEqual([2, 3, 4, 5, 6, 7, 8, 9].map(exemplar))
  })

  test('streams stay within their bound; one that was forgotten begins no earlier than it ended', () => {
    const of = (project: string) => request({ project, metrics: [counter(1n)] })
    const { exported, state } = exportsOf(
      start,
      [
        [200n, of('a')],
        [300n, of('b')],
        [400n, of('c')],
        [500n, of('a')],
      ],
      2,
    )
    expect(state.streams.size).toBe(2)
    const [[begin, end]] = windowOf(exported[3]!) as [[bigint, bigint]]
    expect(end).toBe(500n)
    expect(begin).toBeGreaterThanOrEqual(200n)
    expect(begin).toBeLessThan(500n)
  })

  test('the streams that were silent longest go first', () => {
    const of = (project: string) => request({ project, metrics: [counter(1n)] })
    const { exported } = exportsOf(
      start,
      [
        [200n, of('a')],
        [300n, of('b')],
        [400n, of('a')],
        [500n, of('c')],
        [600n, of('a')],
      ],
      2,
    )
    expect(windowOf(exported[4]!)).toEqual([[400n, 600n]])
  })

  test('only streams with a point come out', () => {
    const { exported } = exportsOf(start, [
      [200n, request(run(counter(1n), gauge(1)))],
      [300n, request(run(gauge(2)))],
      [400n, { resources: [] }],
    ])
    expect(exported.map((each) => metricsOf(each).map(({ name }) => name))).toEqual([
      ['runs', 'seconds'],
      ['seconds'],
      [],
    ])
  })
})

describe('cumulative', () => {
  const start = newAccumulator('cumulative', 100n)

  test('totals are the sums of all points, from a start that stays', () => {
    const { exported } = exportsOf(start, [
      [200n, request(run(counter(1n), histogram([5, 50])))],
      [300n, request(run(counter(2n), histogram([500])), run(counter(4n), histogram([1])))],
      [400n, request(run(counter(8n), histogram([10])))],
    ])
    expect(exported.map((each) => pointsOf(each)[0]!.value?.value)).toEqual([1n, 7n, 15n])
    expect(exported.map((each) => pointsOf(each)[1]!)).toMatchObject([
      { count: 2n, sum: 55, bucketCounts: [1n, 1n, 0n], min: 5, max: 50 },
      { count: 4n, sum: 556, bucketCounts: [2n, 1n, 1n], min: 1, max: 500 },
      { count: 5n, sum: 566, bucketCounts: [3n, 1n, 1n], min: 1, max: 500 },
    ])
    const starts = exported.map((each) => pointsOf(each)[0]!.startTimeUnixNano)
    expect(new Set(starts).size).toBe(1)
    expect(exported.map((each) => pointsOf(each)[0]!.timeUnixNano)).toEqual([200n, 300n, 400n])
  })

  test('a stream starts before its first point: equal times would mean that its start is unknown', () => {
    const { exported } = exportsOf(start, [
      [200n, request(run(counter(1n)))],
      [300n, request({ project: 'south', metrics: [counter(1n)] })],
    ])
    for (const [begin, end] of exported.flatMap(windowOf)) expect(begin!).toBeLessThan(end!)
  })

  test('a stream that begins anew does so after its earlier points, even when the clock went back', () => {
    const of = (project: string) => request({ project, metrics: [counter(1n)] })
    const { exported } = exportsOf(
      start,
      [
        [200n, of('a')],
        [300n, of('b')],
        [150n, of('a')],
      ],
      1,
    )
    const [, last] = windowOf(exported[0]!)[0]!
    const [begin] = windowOf(exported[2]!)[0]!
    expect(begin!).toBeGreaterThanOrEqual(last!)
    expect(valuesOf(exported[2]!)).toEqual([1n])
  })

  test('sums and histograms are cumulative', () => {
    const { exported } = exportsOf(start, [[200n, request(run(counter(1n), histogram([5])))]])
    for (const { data } of metricsOf(exported[0]!)) expect(data).toMatchObject({ aggregationTemporality: CUMULATIVE })
  })

  test('exemplars go out once', () => {
    const { exported } = exportsOf(start, [
      [200n, request(run(histogram([5], { exemplars: [exemplar(5)] })))],
      [300n, request(run(histogram([7], { exemplars: [exemplar(7)] })))],
    ])
    expect(exported.map((each) => pointsOf(each)[0]!.exemplars)).toEqual([[exemplar(5)], [exemplar(7)]])
  })

  test('a gauge does not go back to an older value that comes later', () => {
    const { exported } = exportsOf(start, [
      [200n, request(run(gauge(2, { timeNs: 20n })))],
      [300n, request(run(gauge(1, { timeNs: 10n })))],
    ])
    expect(exported.map(valuesOf)).toEqual([[2], [2]])
  })
})

describe('what never merges', () => {
  const modes = ['windowed', 'cumulative'] as const
  test.each(modes)('%s: other resources, attributes, types of a value, bounds, metrics', (mode) => {
    const { exported } = exportsOf(newAccumulator(mode, 100n), [
      [
        200n,
        request(
          { project: 'north', metrics: [counter(1n)] },
          { project: 'south', metrics: [counter(1n)] },
          run(counter(1n, { attributes: stage('build') })),
          run(counter(1n, { attributes: stage('test') })),
          run(counter(1n, { attributes: [text('n', '1')] })),
          run(counter(1n, { attributes: [{ key: 'n', type: 'int', value: 1n }] })),
          run(histogram([5], { bounds: [10] })),
          run(histogram([5], { bounds: [10, 100] })),
        ),
      ],
    ])
    expect(pointsOf(exported[0]!)).toHaveLength(8)
    expect(exported[0]!.resources).toHaveLength(3)
  })

  test('the order of attributes tells nothing apart', () => {
    const [a, b] = [text('a', '1'), text('b', '2')]
    const both = request(run(counter(1n, { attributes: [a, b] })), run(counter(1n, { attributes: [b, a] })))
    expect(valuesOf(accumulate(newAccumulator('windowed', 1n), both, 2n).request)).toEqual([2n])
  })
})

describe('purity', () => {
  function frozen<Value>(value: Value): Value {
    if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
    Object.freeze(value)
    for (const inner of value instanceof Map ? value.values() : Object.values(value)) frozen(inner)
    return value
  }

  test.each(['windowed', 'cumulative'] as const)('%s: neither state nor request is changed', (mode) => {
    const points = request(run(counter(1n, { exemplars: [exemplar(1)] }), gauge(1), histogram([5])), run(counter(2n)))
    const first = accumulate(newAccumulator(mode, 100n), frozen(points), 200n)
    const before = structuredClone(first.state)
    frozen(first.state)
    const second = accumulate(first.state, points, 300n)
    expect(first.state).toEqual(before)
    expect(second.state).not.toBe(first.state)
    expect(accumulate(first.state, points, 300n)).toEqual(second)
  })
})

describe('laws', () => {
  const stages = fc.constantFrom('build', 'test', 'deploy')
  const projects = fc.constantFrom('north', 'south')
  const samples = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 4 })
  const runs = fc
    .record({ project: projects, stage: stages, count: fc.bigInt({ min: 1n, max: 9n }), samples })
    .map((drawn) => {
      const attributes = stage(drawn.stage)
      return {
        project: drawn.project,
        metrics: [counter(drawn.count, { attributes }), histogram(drawn.samples, { attributes })],
      }
    })
  const histories = fc.array(runs, { minLength: 1, maxLength: 8 })

  function totalsOf({ streams }: AccumulatorState): unknown[] {
    return [...streams]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, { total }]) => {
        const { value, count, sum, bucketCounts, min, max } = total as NumberDataPoint & HistogramDataPoint
        return { key, value, count, sum, bucketCounts, min, max }
      })
  }

  test('cumulative: all at once or one after the other, the totals are the same', () => {
    fc.assert(
      fc.property(histories, fc.nat(), (history, cut) => {
        const start = newAccumulator('cumulative', 100n)
        const at = cut % (history.length + 1)
        const once = exportsOf(start, [[200n, request(...history)]])
        const twice = exportsOf(start, [
          [200n, request(...history.slice(0, at))],
          [300n, request(...history.slice(at))],
        ])
        const singly = exportsOf(
          start,
          history.map((each) => [200n, request(each)] as const),
        )
        expect(totalsOf(twice.state)).toEqual(totalsOf(once.state))
        expect(totalsOf(singly.state)).toEqual(totalsOf(once.state))
      }),
    )
  })

  /** Every point of a sum, with the identity of its stream. */
  function countsOf({ resources }: Metrics) {
    return resources.flatMap(({ resource, scopes }) =>
      scopes[0]!.items.flatMap(({ data }) =>
        data?.type !== 'sum'
          ? []
          : data.dataPoints.map((point) => ({
              stream: JSON.stringify([resource.attributes, point.attributes]),
              count: point.value?.value as bigint,
              beginNs: point.startTimeUnixNano,
              endNs: point.timeUnixNano,
            })),
      ),
    )
  }
  const addedUp = (counts: readonly { count: bigint }[]) => counts.reduce((sum, { count }) => sum + count, 0n)

  test('windowed: the windows of a stream add up to everything, leave no gap and do not overlap', () => {
    const clocks = fc.array(fc.bigInt({ min: 0n, max: 400n }), { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(histories, clocks, (history, clock) => {
        const steps = history.map((each, i) => [clock[i]!, request(each)] as const)
        const counts = exportsOf(newAccumulator('windowed', 100n), steps).exported.flatMap(countsOf)
        expect(addedUp(counts)).toBe(addedUp(countsOf(request(...history))))
        const ends = new Map<string, bigint>()
        for (const { stream, beginNs, endNs } of counts) {
          expect(beginNs).toBe(ends.get(stream) ?? 100n)
          expect(endNs).toBeGreaterThan(beginNs)
          ends.set(stream, endNs)
        }
      }),
    )
  })

  test('bounded, whatever comes', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 1, max: 4 }), (history, maxStreams) => {
        const { state } = exportsOf(
          newAccumulator('cumulative', 1n),
          history.map((each) => [2n, request(each)] as const),
          maxStreams,
        )
        expect(state.streams.size).toBeLessThanOrEqual(maxStreams)
      }),
    )
  })
})

describe('real runs', () => {
  const options = resolveOptions({ metricsMode: 'cumulative' })
  function runOf(id: number, finishedAt: string, duration: number): Metrics {
    const run = {
      id,
      status: 'success',
      ref: 'main',
      created_at: '2026-02-11 09:20:00 UTC',
      finished_at: finishedAt,
      duration,
    }
    const project = { id: 42, name: 'tide-tables', web_url: 'https://ci.example.com/harbour/tide-tables' }
    const input = readInput({ object_attributes: run, project, builds: [] }, { receivedAtNs: undefined })
    if (input.kind !== 'pipeline') throw new Error('not a pipeline')
    return convert(input.record, options).metrics
  }

  test('two pipelines of one ref are one series, with exemplars of both', () => {
    const { exported } = exportsOf(newAccumulator('cumulative', 100n), [
      [200n, runOf(31, '2026-02-11 09:21:00 UTC', 40)],
      [300n, runOf(32, '2026-02-11 09:22:00 UTC', 80)],
    ])
    const byName = Object.fromEntries(metricsOf(exported[1]!).map((each) => [each.name, each]))
    expect(valuesOf(exported[1]!)).toContain(2n)
    expect(byName['cicd.pipeline.run.duration']!.data).toMatchObject({
      aggregationTemporality: CUMULATIVE,
      dataPoints: [{ count: 2n, sum: 120, min: 40, max: 80, bucketCounts: [0n, 0n, 0n, 0n, 1n, 1n, 0n, 0n, 0n, 0n] }],
    })
    expect(byName['pipeline.duration_seconds']!.data).toMatchObject({ dataPoints: [{ value: { value: 80 } }] })
  })
})
