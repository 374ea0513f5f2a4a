import { expect, test } from 'vitest'
import type { StoredLogRecord } from '../../api/logs.ts'
import { addressAround, logBars, logRows, mergeRecords, toSeverity } from './log-records.ts'

const stored = (time: string, values: StoredLogRecord['record'] = {}): StoredLogRecord => ({
  service: 'shop',
  time_unix_nano: time,
  record: values,
})

test.each([
  [undefined, undefined],
  [0, undefined],
  [1, 'trace'],
  [5, 'debug'],
  [9, 'info'],
  [16, 'warn'],
  [17, 'error'],
  [24, 'fatal'],
  [99, 'fatal'],
])('the severity of %s is %s', (number, severity) => {
  expect(toSeverity(number)).toBe(severity)
})

test('rows have a body, attributes and a key of their own', () => {
  const rows = logRows([
    stored('7', {
      severityNumber: 17,
      body: { stringValue: 'Job failed' },
      attributes: [{ key: 'job.name', value: { stringValue: 'unit' } }],
      traceId: 'abc',
    }),
    stored('7', { eventName: 'shop.opened' }),
  ])
  expect(rows[0]).toMatchObject({ key: '7', severity: 'error', body: 'Job failed', traceId: 'abc' })
  expect(rows[0]?.facts).toEqual([
    ['job.name', 'unit'],
    ['service', 'shop'],
  ])
  expect(rows[1]).toMatchObject({ key: '7.1', body: 'shop.opened', severity: undefined })
})

test('reloaded records keep the older ones, and those of the same time', () => {
  const [a, b, c, d] = [stored('9'), stored('8', { eventName: 'b' }), stored('8', { eventName: 'c' }), stored('7')]
  expect(mergeRecords([a, b], [b, c, d])).toEqual([a, b, c, d])
  expect(mergeRecords([], [b, d])).toEqual([b, d])
})

test('counts records over time', () => {
  const rows = logRows([
    stored('1000000000', { severityNumber: 17 }),
    stored('1000000000', { severityNumber: 13 }),
    stored('1999000000', { severityNumber: 9 }),
  ])
  const bars = logBars(rows, 1000, 2000)
  expect(bars.map(({ errors, warnings, others }) => [errors, warnings, others])).toEqual([
    [1, 1, 0],
    [0, 0, 1],
  ])
  expect(bars[0]!.x).toBeLessThan(bars[1]!.x)
})

test('the records around a record are those of its service, a minute before and ten seconds after', () => {
  const [first, second] = logRows([stored('1750000100123456789'), { ...stored('1750000100123456789'), service: '' }])
  expect(addressAround(first!)).toBe(
    '/logs?service=shop&since=2025-06-15T15%3A07%3A20.123Z&until=2025-06-15T15%3A08%3A30.123Z&open=1750000100123456789',
  )
  expect(new URLSearchParams(addressAround(second!).split('?')[1]).get('service')).toBeNull()
  expect(addressAround(second!)).toMatch(/open=1750000100123456789\.1$/)
})
