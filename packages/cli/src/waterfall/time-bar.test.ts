import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { barOf, tickLabels } from './time-bar.ts'

const SECOND_NS = 1_000_000_000n
/** An axis with 1 second per cell. */
const tenSeconds = { startNs: 100n * SECOND_NS, endNs: 110n * SECOND_NS, cells: 10 }
const at = (seconds: number) => 100n * SECOND_NS + BigInt(seconds * 1e9)

describe('bars', () => {
  test.each([
    { from: 0, to: 10, offset: 0, blocks: '██████████' },
    { from: 2, to: 4, offset: 2, blocks: '██' },
    { from: 2, to: 4.5, offset: 2, blocks: '██▌' },
    { from: 2.5, to: 4, offset: 2, blocks: '▐█' },
    { from: 2.9, to: 4, offset: 2, blocks: '▕█' },
    { from: 3, to: 3, offset: 3, blocks: '▏' },
    { from: 10, to: 10, offset: 9, blocks: '▕' },
  ])('$from s to $to s', ({ from, to, offset, blocks }) => {
    expect(barOf(tenSeconds, at(from), at(to))).toEqual({ offset, blocks })
  })

  test('every bar is visible and within the axis', () => {
    const moment = fc.bigInt(0n, 20n * SECOND_NS)
    fc.assert(
      fc.property(moment, moment, moment, fc.integer({ min: 1, max: 300 }), (a, b, length, cells) => {
        const axis = { startNs: 0n, endNs: length, cells }
        const [startNs, endNs] = a < b ? [a, b] : [b, a]
        const { offset, blocks } = barOf(axis, startNs, endNs)
        expect(blocks.length).toBeGreaterThan(0)
        expect(offset).toBeGreaterThanOrEqual(0)
        expect(offset + blocks.length).toBeLessThanOrEqual(cells)
      }),
    )
  })
})

describe('ticks', () => {
  const axisOf = (seconds: number, cells: number) => ({ startNs: 0n, endNs: BigInt(seconds * 1e9), cells })

  test.each([
    { seconds: 0, labels: '0s' },
    { seconds: 0.4, labels: '0s' },
    { seconds: 10, labels: '0s      2s      4s      6s      8s' },
    { seconds: 240, labels: '0s        1m        2m        3m' },
    { seconds: 150, labels: '0s      30s     1m      1m30s   2m' },
    { seconds: 4 * 3600, labels: '0s        1h        2h        3h' },
    { seconds: 5400, labels: '0s           30m          1h' },
    { seconds: 40 * 86_400, labels: '0s            14d           28d' },
    { seconds: 20 * 365 * 86_400, labels: '0s      1460d   2920d   4380d   5840d' },
  ])('$seconds s', ({ seconds, labels }) => {
    expect(tickLabels(axisOf(seconds, 40))).toBe(labels)
  })

  test('labels are within the axis', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 ** 9 }), fc.integer({ min: 2, max: 300 }), (seconds, cells) => {
        expect(tickLabels(axisOf(seconds, cells)).length).toBeLessThanOrEqual(cells)
      }),
    )
  })
})
