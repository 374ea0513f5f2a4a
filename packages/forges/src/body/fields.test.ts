import { describe, expect, test } from 'vitest'
import { RecordError } from '../record/record-error.ts'
import { newWarnings, warningLimit } from '../record/warnings.ts'
import {
  bodyFields,
  byteSize,
  count,
  date,
  dateAfterEpoch,
  type Fields,
  flag,
  id,
  requiredId,
  requiredRunId,
  requiredSection,
  requiredText,
  runId,
  seconds,
  section,
  sections,
  text,
  texts,
  unixMilliseconds,
  unixSeconds,
} from './fields.ts'

const fieldsOf = (value: unknown): Fields => bodyFields({ field: value }, newWarnings())
const reasonsOf = (fields: Fields) => fields.warnings.items.map(({ path, reason }) => `${path}: ${reason}`)

type Reader = (fields: Fields, key: string) => unknown

describe('usable values', () => {
  test.each<[string, Reader, unknown, unknown]>([
    ['text', text, ' a text, as given\n', ' a text, as given\n'],
    ['id', id, 31, 31n],
    ['id', id, 9_223_372_036_854_775_807n, 9_223_372_036_854_775_807n],
    ['id', id, '31', 31n],
    ['byteSize', byteSize, 0, 0n],
    ['byteSize', byteSize, 9_223_372_036_854_775_807n, 9_223_372_036_854_775_807n],
    ['count', count, 0, 0],
    ['seconds', seconds, 0.173, 0.173],
    ['seconds', seconds, 0, 0],
    ['seconds', seconds, -0, 0],
    ['flag', flag, false, false],
    ['date', date, '2016-08-12 15:23:28 UTC', 1_471_015_408_000_000_000n],
    ['date', date, '2262-04-11T23:47:16.854775807Z', 9_223_372_036_854_775_807n],
    ['date', date, '2026-02-03T12:05:06.1234567+08:00', 1_770_091_506_123_456_700n],
    ['dateAfterEpoch', dateAfterEpoch, '1970-01-01T00:00:01Z', 1_000_000_000n],
    ['runId', runId, '31', 31n],
    ['runId', runId, 31, 31n],
    ['runId', runId, ' 31 ', 31n],
    ['runId', runId, '007', '007'],
    ['runId', runId, '0', '0'],
    ['runId', runId, '9223372036854775808', '9223372036854775808'],
    ['requiredRunId', requiredRunId, '07', '07'],
    ['runId', runId, 'team/app/main#31', 'team/app/main#31'],
    ['requiredRunId', requiredRunId, '31', 31n],
    ['requiredRunId', requiredRunId, '0b1c4a52-7b1c-4d58-9a40-4f1d0ad6a3f9', '0b1c4a52-7b1c-4d58-9a40-4f1d0ad6a3f9'],
    ['unixSeconds', unixSeconds, 1_770_091_506, 1_770_091_506_000_000_000n],
    ['unixSeconds', unixSeconds, 1_770_091_506.25, 1_770_091_506_250_000_000n],
    ['unixMilliseconds', unixMilliseconds, 1_770_091_506_123, 1_770_091_506_123_000_000n],
    ['texts', texts, ['a', 'b', 'a'], ['a', 'b', 'a']],
    ['texts', texts, [], []],
  ])('%s %#', (_, reader, given, expected) => {
    const fields = fieldsOf(given)
    expect(reader(fields, 'field')).toStrictEqual(expected)
    expect(reasonsOf(fields)).toEqual([])
  })
})

describe('empty values are absent without a warning', () => {
  test.each<[string, Reader, readonly unknown[]]>([
    ['text', text, [undefined, null, '', ' \n']],
    ['id', id, [undefined, null]],
    ['byteSize', byteSize, [undefined, null]],
    ['count', count, [undefined, null]],
    ['seconds', seconds, [undefined, null]],
    ['flag', flag, [undefined, null]],
    ['date', date, [undefined, null, '', 'null', '0001-01-01T00:00:00Z']],
    [
      'dateAfterEpoch',
      dateAfterEpoch,
      ['1970-01-01T00:00:00Z', '1970-01-01T08:00:00+08:00', '0001-01-01T00:00:00Z', ''],
    ],
    ['runId', runId, [undefined, null, '', ' ']],
    ['unixSeconds', unixSeconds, [undefined, null, 0]],
    ['unixMilliseconds', unixMilliseconds, [undefined, null, 0]],
    ['section', section, [undefined, null]],
    ['sections', sections, [undefined, null]],
  ])('%s', (_, reader, values) => {
    for (const nothing of values) {
      const fields = fieldsOf(nothing)
      expect(reader(fields, 'field')).toBeUndefined()
      expect(reasonsOf(fields)).toEqual([])
    }
  })

  test('texts', () => {
    const fields = fieldsOf(null)
    expect(texts(fields, 'field')).toEqual([])
    expect(reasonsOf(fields)).toEqual([])
  })
})

describe('unusable optional values are absent, with a warning', () => {
  test.each<[string, Reader, unknown, string]>([
    ['text', text, 7, 'must be a text, got 7'],
    ['text', text, ['x'], 'must be a text, got a list'],
    ['id', id, 0, 'must be an integer above 0, got 0'],
    ['id', id, '12a', 'must be an integer above 0, got "12a"'],
    ['byteSize', byteSize, -1, 'must be an integer from 0 to 9223372036854775807, got -1'],
    ['byteSize', byteSize, 2n ** 63n, 'must be an integer from 0 to 9223372036854775807, got 9223372036854775808'],
    ['count', count, 1.5, 'must be an integer, 0 or above, got 1.5'],
    ['edge 19 seconds', seconds, -1, 'must be seconds, 0 or above, got -1'],
    ['edge 19 seconds', seconds, Number.NaN, 'must be seconds, 0 or above, got NaN'],
    ['edge 19 seconds', seconds, Number.POSITIVE_INFINITY, 'must be seconds, 0 or above, got Infinity'],
    ['edge 19 seconds', seconds, 'canary', 'must be seconds, 0 or above, got a text'],
    ['flag', flag, 'true', 'must be true or false, got a text'],
    ['edge 11 date', date, '2021-02-30 00:00:00 UTC', 'got "2021-02-30 00:00:00 UTC"'],
    ['edge 11 date', date, 1_471_015_408, 'got 1471015408'],
    ['date', date, '2262-04-11T23:47:16.854775808Z', 'must be a date after 1970 and before 2262-04-11T23:47:17Z'],
    ['texts', texts, 'canary', 'must be a list of texts, got a text'],
    ['section', section, [], 'must be an object, got a list'],
    ['sections', sections, {}, 'must be a list, got an object'],
  ])('%s %#', (_, reader, given, reason) => {
    const fields = fieldsOf(given)
    expect(reader(fields, 'field') ?? []).toEqual([])
    expect(reasonsOf(fields)).toEqual([expect.stringContaining(reason)])
    expect(reasonsOf(fields)[0]).toMatch(/^field: /)
    expect(reasonsOf(fields)[0]).not.toContain('canary')
  })

  test('items of other types in a list of texts are dropped with a warning, blank texts without one', () => {
    const fields = fieldsOf(['build', 7, '', 'test', null])
    expect(texts(fields, 'field')).toEqual(['build', 'test'])
    expect(reasonsOf(fields)).toEqual(['field[1]: must be a text, got 7', 'field[4]: must be a text, got null'])
  })
})

describe('edge 49: unusable required values are refused', () => {
  test.each<[string, Reader, unknown, string]>([
    ['id', requiredId, 0, 'field: must be an integer above 0, got 0'],
    ['id', requiredId, -31, 'field: must be an integer above 0, got -31'],
    ['id', requiredId, -0, 'field: must be an integer above 0, got 0'],
    ['id', requiredId, 31.5, 'field: must be an integer above 0, got 31.5'],
    ['id', requiredId, Number.NaN, 'field: must be an integer above 0, got NaN'],
    ['id', requiredId, 'thirty-one', 'field: must be an integer above 0, got "thirty-one"'],
    ['id', requiredId, '', 'field: must be an integer above 0, got ""'],
    ['id', requiredId, '+31', 'field: must be an integer above 0, got "+31"'],
    ['id', requiredId, '0', 'field: must be an integer above 0, got "0"'],
    ['id', requiredId, null, 'field: must be an integer above 0, got null'],
    ['id', requiredId, undefined, 'field: must be an integer above 0, got nothing'],
    ['id', requiredId, {}, 'field: must be an integer above 0, got an object'],
    ['id', requiredId, 2n ** 63n, 'field: must be at most 9223372036854775807, got 9223372036854775808'],
    ['id', requiredId, '9223372036854775808', 'field: must be at most 9223372036854775807, got "9223372036854775808"'],
    [
      'id',
      requiredId,
      2 ** 53,
      'field: must be exact, but 9007199254740992 is beyond 2^53 and has already been rounded',
    ],
    ['text', requiredText, undefined, 'field: must be a text, got nothing'],
    ['text', requiredText, ' ', 'field: must be a text, got a blank one'],
    ['text', requiredText, 3, 'field: must be a text, got 3'],
    ['section', requiredSection, null, 'field: must be an object, got null'],
    ['sections', sections, [{}, 7], 'field[1]: must be an object, got 7'],
  ])('%s %#', (_, reader, given, message) => {
    const failure = failureOf(() => reader(fieldsOf(given), 'field'))
    expect(failure).toBeInstanceOf(RecordError)
    expect(failure.message).toBe(message)
    expect(failure.message).toBe(`${failure.path}: ${failure.reason}`)
  })
})

test('values in messages are one line of at most 40 characters', () => {
  const shown = (value: unknown) => failureOf(() => requiredId(fieldsOf(value), 'field')).reason.split('got ')[1]
  expect(shown('a\nb')).toBe('"a\\nb"')
  expect(shown('x'.repeat(500))).toHaveLength(40)
  expect(shown(-(10n ** 500n))).toHaveLength(40)
})

test('paths contain objects and list positions', () => {
  const body = bodyFields({ builds: [{}, { user: { id: 'x' } }] }, newWarnings())
  const user = section(sections(body, 'builds')![1]!, 'user')!
  expect(id(user, 'id')).toBeUndefined()
  expect(body.warnings.items[0]?.path).toBe('builds[1].user.id')
})

test('warnings above the limit are counted, but not kept', () => {
  const fields = fieldsOf(7)
  for (let time = 0; time < warningLimit + 50; time++) text(fields, 'field')
  expect(fields.warnings.items).toHaveLength(warningLimit)
  expect(fields.warnings.total).toBe(warningLimit + 50)
})

function failureOf(read: () => unknown): RecordError {
  try {
    read()
  } catch (error) {
    return error as RecordError
  }
  throw new Error('was read')
}
