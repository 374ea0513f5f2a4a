import fc from 'fast-check'
import { expect, test } from 'vitest'
import { clampZoom, panZoom, readZoom, scaleZoom, toBar, toTicks, wholeTrace, zoomText } from './zoom.ts'

const durationNs = 262e9

test('an address keeps the zoom, and anything else shows the whole trace', () => {
  expect(readZoom('17.5-60.25', durationNs)).toEqual({ fromNs: 17.5e9, toNs: 60.25e9 })
  expect(zoomText({ fromNs: 17.5e9, toNs: 60.25e9 }, durationNs)).toBe('17.5-60.25')
  expect(zoomText({ fromNs: 10e9, toNs: 20e9 }, durationNs)).toBe('10-20')
  expect(zoomText(wholeTrace(durationNs), durationNs)).toBeNull()
  for (const text of [null, '', '5', 'a-b', '-1-5', '1e9-2e9', '0x1-0x2', '1-2-3'])
    expect(readZoom(text, durationNs)).toEqual(wholeTrace(durationNs))
})

test('every zoom lies within the trace, and its address gives it back', () => {
  const time = fc.double({ min: -1e12, max: 1e12, noNaN: true })
  fc.assert(
    fc.property(
      time,
      time,
      fc.integer({ min: 0, max: 1e12 }),
      fc.double({ min: -2, max: 2, noNaN: true }),
      (a, b, length, by) => {
        const first = clampZoom({ fromNs: Math.min(a, b), toNs: Math.max(a, b) }, length)
        for (const zoom of [first, panZoom(first, by, length), scaleZoom(first, Math.abs(by), length)]) {
          expect(zoom.fromNs).toBeGreaterThanOrEqual(0)
          expect(zoom.toNs).toBeGreaterThan(zoom.fromNs)
          expect(zoom.toNs).toBeLessThanOrEqual(wholeTrace(length).toNs + 0.01)
          const again = readZoom(zoomText(zoom, length), length)
          expect(Math.abs(again.fromNs - zoom.fromNs)).toBeLessThan(1_001)
          expect(toTicks(zoom).labels.length).toBeLessThanOrEqual(7)
        }
      },
    ),
  )
})

test('labels stand at round times', () => {
  const texts = (fromNs: number, toNs: number) => toTicks({ fromNs, toNs }).labels.map(({ text }) => text)
  expect(texts(0, durationNs)).toEqual(['0', '1m', '2m', '3m', '4m'])
  expect(texts(17e9, 60e9)).toEqual(['20 s', '30 s', '40 s', '50 s', '1m'])
  expect(texts(0, 5_000_000)).toEqual(['0', '1 ms', '2 ms', '3 ms', '4 ms', '5 ms'])
  expect(texts(0, 3 * 3600e9)).toEqual(['0', '30m', '1h', '1h 30m', '2h', '2h 30m', '3h'])
})

test('bars are cut at the edges of the zoom', () => {
  const zoom = { fromNs: 100, toNs: 200 }
  expect(toBar(150, 175, zoom)).toEqual({ x: 50, w: 25 })
  expect(toBar(0, 1e9, zoom)).toEqual({ x: -1, w: 102 })
  expect(toBar(0, 50, zoom)).toBeUndefined()
  expect(toBar(300, 400, zoom)).toBeUndefined()
})
