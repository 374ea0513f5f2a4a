import type { HistogramDataPoint, NumberDataPoint } from '@penstock/otlp'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { counter, exportWindows, histogram, type Metrics, request, stage } from './accumulate.harness.ts'
import { type AccumulatorState, newAccumulator } from './accumulate.ts'

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

  test('cumulative: the totals are the same for one request and for several', () => {
    fc.assert(
      fc.property(histories, fc.nat(), (history, cut) => {
        const start = newAccumulator('cumulative', 100n)
        const at = cut % (history.length + 1)
        const once = exportWindows(start, [[200n, request(...history)]])
        const twice = exportWindows(start, [
          [200n, request(...history.slice(0, at))],
          [300n, request(...history.slice(at))],
        ])
        const singly = exportWindows(
          start,
          history.map((each) => [200n, request(each)] as const),
        )
        expect(totalsOf(twice.state)).toEqual(totalsOf(once.state))
        expect(totalsOf(singly.state)).toEqual(totalsOf(once.state))
      }),
    )
  })

  /** Returns every point of a sum, with the identity of its stream. */
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

  test('windowed: the windows of a stream contain every point, have no gaps and do not overlap', () => {
    const clocks = fc.array(fc.bigInt({ min: 0n, max: 400n }), { minLength: 8, maxLength: 8 })
    fc.assert(
      fc.property(histories, clocks, (history, clock) => {
        const steps = history.map((each, i) => [clock[i]!, request(each)] as const)
        const counts = exportWindows(newAccumulator('windowed', 100n), steps).exported.flatMap(countsOf)
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

  test('the number of streams stays within its bound', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 1, max: 4 }), (history, maxStreams) => {
        const { state } = exportWindows(
          newAccumulator('cumulative', 1n),
          history.map((each) => [2n, request(each)] as const),
          maxStreams,
        )
        expect(state.streams.size).toBeLessThanOrEqual(maxStreams)
      }),
    )
  })
})
