import { readInput } from '@penstock/forges'
import { describe, expect, test } from 'vitest'
import { resolveOptions } from '../base/options.ts'
import { convert } from '../convert.ts'
import {
  CUMULATIVE,
  counter,
  DELTA,
  exemplar,
  exportWindows,
  gauge,
  histogram,
  listPoints,
  listValues,
  listWindows,
  type Metrics,
  request,
  run,
  stage,
  text,
  toMetrics,
} from './accumulate.harness.ts'
import { accumulate, newAccumulator } from './accumulate.ts'

describe('windowed', () => {
  const start = newAccumulator('windowed', 100n)

  test('a window begins at the end of the previous window of its stream, the first at the start of the process', () => {
    const north = request({ project: 'north', metrics: [counter(1n)] })
    const south = request({ project: 'south', metrics: [counter(1n)] })
    const { exported } = exportWindows(start, [
      [200n, north],
      [300n, south],
      [400n, north],
    ])
    expect(exported.map(listWindows)).toEqual([[[100n, 200n]], [[100n, 300n]], [[200n, 400n]]])
  })

  test('the time advances even if the clock stands still or goes back', () => {
    const one = request(run(counter(1n)))
    const { exported, state } = exportWindows(start, [
      [200n, one],
      [200n, one],
      [150n, one],
      [50n, one],
      [300n, one],
    ])
    expect(exported.flatMap(listWindows)).toEqual([
      [100n, 200n],
      [200n, 201n],
      [201n, 202n],
      [202n, 203n],
      [203n, 300n],
    ])
    expect(state.lastNs).toBe(300n)
  })

  test('points of different runs merge into one', () => {
    const { exported } = exportWindows(start, [
      [200n, request(run(counter(1n), histogram([5, 50])), run(counter(2n), histogram([500])))],
    ])
    expect(exported[0]!.resources).toHaveLength(1)
    const [count, durations] = listPoints(exported[0]!)
    expect(count!.value).toEqual({ type: 'int', value: 3n })
    expect(durations).toMatchObject({ count: 3n, sum: 555, bucketCounts: [1n, 1n, 1n], min: 5, max: 500 })
  })

  test('a window contains no points of the previous window', () => {
    const { exported } = exportWindows(start, [
      [200n, request(run(counter(5n)))],
      [300n, request(run(counter(2n)))],
    ])
    expect(exported.map(listValues)).toEqual([[5n], [2n]])
  })

  test('sums and histograms are delta', () => {
    const { exported } = exportWindows(start, [[200n, request(run(counter(1n), histogram([5]), gauge(3)))]])
    expect(
      toMetrics(exported[0]!).map(({ data }) => [
        data?.type,
        (data as { aggregationTemporality?: number }).aggregationTemporality,
      ]),
    ).toEqual([
      ['sum', DELTA],
      ['histogram', DELTA],
      ['gauge', undefined],
    ])
  })

  test('a gauge keeps the value of the latest point, in any order of points, and has no start', () => {
    const early = run(gauge(1, { timeNs: 10n }))
    const late = run(gauge(2, { timeNs: 20n }))
    for (const both of [request(early, late), request(late, early)]) {
      const { exported } = exportWindows(start, [[200n, both]])
      expect(listValues(exported[0]!)).toEqual([2])
      expect(listWindows(exported[0]!)).toEqual([[0n, 200n]])
    }
  })

  test('if two gauge points have the same time, the later one in the request counts', () => {
    const { exported } = exportWindows(start, [[200n, request(run(gauge(1)), run(gauge(2)))]])
    expect(listValues(exported[0]!)).toEqual([2])
  })

  test('the latest eight exemplars of all runs are kept', () => {
    const runs = Array.from({ length: 10 }, (_, i) => run(counter(1n, { exemplars: [exemplar(i)] })))
    const { exported } = exportWindows(start, [[200n, request(...runs)]])
    expect(listPoints(exported[0]!)[0]!.exemplars).toEqual([2, 3, 4, 5, 6, 7, 8, 9].map(exemplar))
  })

  test('the number of streams is bounded; an evicted stream begins again no earlier than it ended', () => {
    const of = (project: string) => request({ project, metrics: [counter(1n)] })
    const { exported, state } = exportWindows(
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
    const [[begin, end]] = listWindows(exported[3]!) as [[bigint, bigint]]
    expect(end).toBe(500n)
    expect(begin).toBeGreaterThanOrEqual(200n)
    expect(begin).toBeLessThan(500n)
  })

  test('the least recently exported streams are evicted first', () => {
    const of = (project: string) => request({ project, metrics: [counter(1n)] })
    const { exported } = exportWindows(
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
    expect(listWindows(exported[4]!)).toEqual([[400n, 600n]])
  })

  test('the result contains only streams with a point', () => {
    const { exported } = exportWindows(start, [
      [200n, request(run(counter(1n), gauge(1)))],
      [300n, request(run(gauge(2)))],
      [400n, { resources: [] }],
    ])
    expect(exported.map((each) => toMetrics(each).map(({ name }) => name))).toEqual([
      ['runs', 'seconds'],
      ['seconds'],
      [],
    ])
  })
})

describe('cumulative', () => {
  const start = newAccumulator('cumulative', 100n)

  test('totals are the sums of all points, and the start does not change', () => {
    const { exported } = exportWindows(start, [
      [200n, request(run(counter(1n), histogram([5, 50])))],
      [300n, request(run(counter(2n), histogram([500])), run(counter(4n), histogram([1])))],
      [400n, request(run(counter(8n), histogram([10])))],
    ])
    expect(exported.map((each) => listPoints(each)[0]!.value?.value)).toEqual([1n, 7n, 15n])
    expect(exported.map((each) => listPoints(each)[1]!)).toMatchObject([
      { count: 2n, sum: 55, bucketCounts: [1n, 1n, 0n], min: 5, max: 50 },
      { count: 4n, sum: 556, bucketCounts: [2n, 1n, 1n], min: 1, max: 500 },
      { count: 5n, sum: 566, bucketCounts: [3n, 1n, 1n], min: 1, max: 500 },
    ])
    const starts = exported.map((each) => listPoints(each)[0]!.startTimeUnixNano)
    expect(new Set(starts).size).toBe(1)
    expect(exported.map((each) => listPoints(each)[0]!.timeUnixNano)).toEqual([200n, 300n, 400n])
  })

  test('a stream starts before its first point: equal times would mean that its start is unknown', () => {
    const { exported } = exportWindows(start, [
      [200n, request(run(counter(1n)))],
      [300n, request({ project: 'south', metrics: [counter(1n)] })],
    ])
    for (const [begin, end] of exported.flatMap(listWindows)) expect(begin!).toBeLessThan(end!)
  })

  test('an evicted stream begins again after its earlier points, even if the clock went back', () => {
    const of = (project: string) => request({ project, metrics: [counter(1n)] })
    const { exported } = exportWindows(
      start,
      [
        [200n, of('a')],
        [300n, of('b')],
        [150n, of('a')],
      ],
      1,
    )
    const [, last] = listWindows(exported[0]!)[0]!
    const [begin] = listWindows(exported[2]!)[0]!
    expect(begin!).toBeGreaterThanOrEqual(last!)
    expect(listValues(exported[2]!)).toEqual([1n])
  })

  test('sums and histograms are cumulative', () => {
    const { exported } = exportWindows(start, [[200n, request(run(counter(1n), histogram([5])))]])
    for (const { data } of toMetrics(exported[0]!)) expect(data).toMatchObject({ aggregationTemporality: CUMULATIVE })
  })

  test('each exemplar is exported once', () => {
    const { exported } = exportWindows(start, [
      [200n, request(run(histogram([5], { exemplars: [exemplar(5)] })))],
      [300n, request(run(histogram([7], { exemplars: [exemplar(7)] })))],
    ])
    expect(exported.map((each) => listPoints(each)[0]!.exemplars)).toEqual([[exemplar(5)], [exemplar(7)]])
  })

  test('a gauge does not return to an older value that arrives later', () => {
    const { exported } = exportWindows(start, [
      [200n, request(run(gauge(2, { timeNs: 20n })))],
      [300n, request(run(gauge(1, { timeNs: 10n })))],
    ])
    expect(exported.map(listValues)).toEqual([[2], [2]])
  })
})

describe('points that are never merged', () => {
  const modes = ['windowed', 'cumulative'] as const
  test.each(modes)('%s: other resources, attributes, types of a value, bounds, metrics', (mode) => {
    const { exported } = exportWindows(newAccumulator(mode, 100n), [
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
    expect(listPoints(exported[0]!)).toHaveLength(8)
    expect(exported[0]!.resources).toHaveLength(3)
  })

  test('streams do not depend on the order of attributes', () => {
    const [a, b] = [text('a', '1'), text('b', '2')]
    const both = request(run(counter(1n, { attributes: [a, b] })), run(counter(1n, { attributes: [b, a] })))
    expect(listValues(accumulate(newAccumulator('windowed', 1n), both, 2n).request)).toEqual([2n])
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
    const { exported } = exportWindows(newAccumulator('cumulative', 100n), [
      [200n, runOf(31, '2026-02-11 09:21:00 UTC', 40)],
      [300n, runOf(32, '2026-02-11 09:22:00 UTC', 80)],
    ])
    const byName = Object.fromEntries(toMetrics(exported[1]!).map((each) => [each.name, each]))
    expect(listValues(exported[1]!)).toContain(2n)
    expect(byName['cicd.pipeline.run.duration']!.data).toMatchObject({
      aggregationTemporality: CUMULATIVE,
      dataPoints: [{ count: 2n, sum: 120, min: 40, max: 80, bucketCounts: [0n, 0n, 0n, 0n, 1n, 1n, 0n, 0n, 0n, 0n] }],
    })
    expect(byName['pipeline.duration_seconds']!.data).toMatchObject({ dataPoints: [{ value: { value: 80 } }] })
  })
})
