import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { parseDate, readDate } from './date.ts'

const august2016 = 1_471_015_408_000_000_000n

describe('forms', () => {
  test.each([
    ['2016-08-12 15:23:28 UTC', august2016],
    ['2016-08-12 15:23:28', august2016],
    ['2016-08-12T15:23:28', august2016],
    ['2016-08-12T15:23:28Z', august2016],
    ['2016-08-12T17:23:28+02:00', august2016],
    ['2016-08-12 08:23:28 -0700', august2016],
    ['2016-08-12 08:23:28 -07:00', august2016],
    ['2016-08-12 20:53:28+0530', august2016],
    ['2016-08-12T15:23:28-00:00', august2016],
    ['2016-08-13T15:22:28+23:59', august2016],
    ['2016-08-12T15:23:28.5Z', august2016 + 500_000_000n],
    ['2016-08-12T15:23:28.819Z', august2016 + 819_000_000n],
    ['2016-08-12 15:23:28.000001 UTC', august2016 + 1_000n],
    ['2016-08-12T17:23:28.123456789+02:00', august2016 + 123_456_789n],
    ['1970-01-01T00:00:00.000000001Z', 1n],
    ['1970-01-01T00:00:01Z', 1_000_000_000n],
    ['1969-12-31T23:00:00-02:00', 3_600_000_000_000n],
    ['2000-02-29T00:00:00Z', 951_782_400_000_000_000n],
    ['2024-02-29 12:00:00 UTC', 1_709_208_000_000_000_000n],
    ['2016-08-12T15:23:28+00', august2016],
    ['2016-08-12 17:23:28+02', august2016],
    ['2016-08-12t15:23:28z', august2016],
    ['2016-08-12t15:23:28.5z', august2016 + 500_000_000n],
    ['2016-08-12 15:23 UTC', august2016 - 28_000_000_000n],
    ['2016-08-12T17:23+02:00', august2016 - 28_000_000_000n],
    ['2016-08-12T17:23+02', august2016 - 28_000_000_000n],
    ['2016-08-12T15:23', august2016 - 28_000_000_000n],
    ['9999-12-31T23:59:59.999999999Z', 253_402_300_799_999_999_999n],
  ])('edges 8, 9, 10: %s', (text, expected) => {
    expect(parseDate(text)).toBe(expected)
  })

  test('edge 9: an offset of seven hours is the same day in UTC', () => {
    expect(parseDate('2026-07-28 15:09:25 -0700')).toBe(parseDate('2026-07-28T22:09:25Z'))
  })
})

test.each([undefined, null, '', '  ', 'null', '0001-01-01T00:00:00Z', '0001-01-01 00:00:00 UTC'])(
  'edge 11: %j is absent',
  (value) => expect(readDate(value)).toBe('absent'),
)

test.each([
  '2021-13-40 00:00:00 UTC',
  '2021-00-10 00:00:00 UTC',
  '2021-01-00 00:00:00 UTC',
  '2021-02-30 00:00:00 UTC',
  '2021-02-29 00:00:00 UTC',
  '2100-02-29 00:00:00 UTC',
  '2021-04-31 00:00:00 UTC',
  '2021-01-01 24:00:00 UTC',
  '2021-01-01 00:60:00 UTC',
  '2016-12-31 23:59:60 UTC',
  '2021-01-01T00:00:00+24:00',
  '2021-01-01T00:00:00+01:60',
  '2021-01-01T00:00:00.Z',
  '2021-01-01T00:00:00.1234567890Z',
  '2021-01-01T00:00:00 CEST',
  '2021-01-01T00:00:00+2',
  '2021-01-01T00:00:00+24',
  '2021-01-01T00:60Z',
  '2021-01-01T00:00:Z',
  '2021-01-01T00:00.5Z',
  '2021-01-01T00Z',
  '2021-01-01',
  '21-01-01 00:00:00',
  '2021-1-1 00:00:00',
  '+02021-01-01T00:00:00Z',
  '2021-01-01T00:00:00Z\n',
  ' 2021-01-01T00:00:00Z',
  '２021-01-01T00:00:00Z',
  '1970-01-01T00:00:00Z',
  '1970-01-01T00:30:00+01:00',
  '1969-12-31T23:59:59.999999999Z',
  '0000-00-00 00:00:00',
  'yesterday',
  1_471_015_408,
  1_471_015_408_000n,
  true,
  {},
])('edge 11: %o is invalid', (value) => {
  expect(readDate(value)).toBe('invalid')
  expect(parseDate(value)).toBeUndefined()
})

const calendar = fc.record({
  // Dates start at the third day, so that no offset results in a time before 1970.
  ms: fc.integer({ min: 2 * 86_400_000, max: Date.UTC(9999, 11, 30) }).map((ms) => ms - (ms % 1000)),
  fraction: fc.stringMatching(/^(?:\.\d{1,9})?$/),
  separator: fc.constantFrom(' ', 'T'),
  offsetMinutes: fc.integer({ min: -1439, max: 1439 }),
  colon: fc.constantFrom('', ':'),
  blank: fc.constantFrom('', ' '),
})

test('agrees with Date.UTC on every date from 1970 to 9999', () => {
  fc.assert(
    fc.property(calendar, ({ ms, fraction, separator, offsetMinutes, colon, blank }) => {
      const [day, time] = new Date(ms).toISOString().split('T') as [string, string]
      const minutes = Math.abs(offsetMinutes)
      const [hh, mm] = [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0'))
      const zone = `${blank}${offsetMinutes < 0 ? '-' : '+'}${hh}${colon}${mm}`
      const expected = BigInt(ms - offsetMinutes * 60_000) * 1_000_000n + BigInt(fraction.slice(1).padEnd(9, '0'))
      expect(parseDate(`${day}${separator}${time.slice(0, 8)}${fraction}${zone}`)).toBe(expected)
    }),
    { numRuns: 2000 },
  )
})

test('accepts exactly the days that exist', () => {
  const twoDigits = fc.integer({ min: 0, max: 39 })
  fc.assert(
    fc.property(fc.integer({ min: 1971, max: 9999 }), twoDigits, twoDigits, (year, month, day) => {
      const exists = new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day && month >= 1 && month <= 12
      const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')} 00:00:00 UTC`
      expect(parseDate(text) !== undefined).toBe(exists && day > 0)
    }),
    { numRuns: 2000 },
  )
})

test('never throws', () => {
  fc.assert(fc.property(fc.anything(), (value) => void readDate(value)))
})

describe('edge 10: the result does not depend on the zone of the host', () => {
  const hostZone = process.env.TZ
  afterEach(() => {
    if (hostZone === undefined) delete process.env.TZ
    else process.env.TZ = hostZone
  })

  test.each([
    ['Asia/Kolkata', -330],
    ['America/Los_Angeles', 420],
  ])('%s', (zone, offsetMinutes) => {
    process.env.TZ = zone
    expect(new Date(2016, 7, 12).getTimezoneOffset()).toBe(offsetMinutes)
    expect(parseDate('2016-08-12 15:23:28')).toBe(august2016)
  })
})
