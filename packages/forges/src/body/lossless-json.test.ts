import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RecordError } from '../record/record-error.ts'
import { findSyntaxError } from './json-syntax.ts'
import { parseLossless } from './lossless-json.ts'

describe('edge 48: long integers keep every digit', () => {
  test.each<[string, unknown]>([
    ['9007199254740993', 9_007_199_254_740_993n],
    ['-9007199254740993', -9_007_199_254_740_993n],
    [' 9223372036854775807\n', 9_223_372_036_854_775_807n],
    ['[9007199254740993,9007199254740994]', [9_007_199_254_740_993n, 9_007_199_254_740_994n]],
    ['[-1234567890123456 ,\t1234567890123456]', [-1_234_567_890_123_456n, 1_234_567_890_123_456n]],
    ['{"id":9007199254740993}', { id: 9_007_199_254_740_993n }],
    ['{"a":{"b":[{"id": 9007199254740993 }]},"c":7}', { a: { b: [{ id: 9_007_199_254_740_993n }] }, c: 7 }],
    ['{"\\"":9007199254740993,"\\\\":"x"}', { '"': 9_007_199_254_740_993n, '\\': 'x' }],
    ['\ufeff{"id":9007199254740993}', { id: 9_007_199_254_740_993n }],
    [`[${'9'.repeat(1000)}]`, [BigInt('9'.repeat(1000))]],
  ])('%s', (text, expected) => expect(parseLossless(text)).toEqual(expected))
})

test('a long integer is found in every position', () => {
  for (let spaces = 0; spaces <= 64; spaces += 1) {
    const integer = 1_234_567_890_123_456n
    expect(parseLossless(`[${' '.repeat(spaces)}${integer}]`)).toEqual([integer])
    expect(parseLossless(`[${' '.repeat(spaces)}-${integer} ,123456789012345]`)).toEqual([-integer, 123456789012345])
  }
})

describe('other numbers stay numbers', () => {
  test.each([
    '123456789012345',
    '0.1234567890123456789',
    '1234567890123456.5',
    '1234567890123456e3',
    '1e1234567890123456',
    '[1E-1234567890123456]',
    '[1.5e+1234567890123456]',
    `[${'9'.repeat(1001)}]`,
  ])('%s', (text) => expect(parseLossless(text)).toEqual(JSON.parse(text)))
})

describe('edge 48: texts that look like long integers stay texts', () => {
  test.each([
    '["9007199254740993"]',
    '["id: 9007199254740993, next"]',
    '["a\\":9007199254740993,"]',
    '["a\\\\",":9007199254740993 "]',
    '{"x,9007199254740993 ":":9007199254740993,"}',
    '["[9007199254740993]\\\\\\""]',
  ])('%s', (text) => {
    const withNumber = `[${text},9007199254740993]`
    expect(parseLossless(text)).toEqual(JSON.parse(text))
    expect(parseLossless(withNumber)).toEqual([JSON.parse(text), 9_007_199_254_740_993n])
  })
})

test('the marker cannot be forged', () => {
  const forged = ['\u00009007199254740993', '\u0000\u00005', '\u0000\u0000\u0000', '\u0000x', '\u0000']
  const text = `{"forged":${JSON.stringify(forged)},"key":{"\\u00001":2},"id":9007199254740993}`
  expect(parseLossless(text)).toEqual({ forged, key: { '\u00001': 2 }, id: 9_007_199_254_740_993n })
})

test('edge 59: __proto__ is a field like any other', () => {
  const parsed = parseLossless('{"__proto__":9007199254740993,"x":{"__proto__":{"y":9007199254740993}}}') as object
  expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype)
  expect(Object.getOwnPropertyDescriptor(parsed, '__proto__')?.value).toBe(9_007_199_254_740_993n)
})

test('edge 59: nesting of any depth is read', () => {
  const levels = 200_000
  let inner = parseLossless(`${'['.repeat(levels)}9007199254740993${']'.repeat(levels)}`)
  for (let level = 0; level < levels; level++) inner = (inner as unknown[])[0]
  expect(inner).toBe(9_007_199_254_740_993n)
})

const tricky = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'\\"\0:,[{ -0123456789'), maxLength: 30 }),
  fc.bigInt({ min: 10n ** 15n, max: 10n ** 20n }).map(String),
  fc.string(),
)
const leaf = fc.oneof(
  fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
  fc.double(),
  tricky,
  fc.constant(null),
  fc.boolean(),
)
const { value: anyJson } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    leaf,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(tricky, tie('value'), { maxKeys: 5 }),
  ),
}))

/** Writes JSON with all digits of every integer, independently of the code under test. */
function write(value: unknown): string {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return `[${value.map(write).join(' ,\n')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}: ${write(inner)}`)
    .join(',')}}`
}

/** Returns the value that a lossless reader must return: integers below 10^15 are numbers. */
function expected(value: unknown): unknown {
  if (typeof value === 'bigint') return value > -(10n ** 15n) && value < 10n ** 15n ? Number(value) : value
  if (typeof value === 'number') return fromNumber(JSON.stringify(value))
  if (Array.isArray(value)) return value.map(expected)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, expected(inner)]))
}

/** A double of 16 integer digits or more is written as a bare integer. */
function fromNumber(written: string): unknown {
  return /^-?\d{16,}$/.test(written) ? BigInt(written) : JSON.parse(written)
}

test('reads every written value', () => {
  fc.assert(
    fc.property(anyJson, (value) => {
      expect(parseLossless(write(value))).toEqual(expected(value))
    }),
    { numRuns: 2000 },
  )
})

describe('a text that is not valid JSON', () => {
  test.each([
    ['', 'ends before the JSON is complete', 1, 1],
    ['  \n ', 'ends before the JSON is complete', 2, 2],
    ['{"a": [1, 2', 'ends before the JSON is complete', 1, 12],
    ['{\n  "a": "b', 'ends before the JSON is complete', 2, 10],
    ['{"a": tru', 'ends before the JSON is complete', 1, 10],
    ['{"id": 9007199254740993', 'ends before the JSON is complete', 1, 24],
    ['{\n  "id": 9007199254740993,\n  "name": oops\n}', 'is not valid JSON', 3, 11],
    ['{9007199254740993: 1}', 'is not valid JSON', 1, 2],
    ['[1 9007199254740993]', 'is not valid JSON', 1, 4],
    ['[0009007199254740993]', 'is not valid JSON', 1, 3],
    ['["a"9007199254740993]', 'is not valid JSON', 1, 5],
    ['[1,,2]', 'is not valid JSON', 1, 4],
    ['[1,]', 'is not valid JSON', 1, 4],
    ['{"a":1,}', 'is not valid JSON', 1, 8],
    ['{"a" 1}', 'is not valid JSON', 1, 6],
    ['[1}', 'is not valid JSON', 1, 3],
    ['[NaN]', 'is not valid JSON', 1, 2],
    ['[01]', 'is not valid JSON', 1, 3],
    ['[-]', 'is not valid JSON', 1, 3],
    ['[1.]', 'is not valid JSON', 1, 4],
    ['[1e+]', 'is not valid JSON', 1, 5],
    ['["\t"]', 'is not valid JSON', 1, 3],
    ['["\\x"]', 'is not valid JSON', 1, 4],
    ['["\\u12G4"]', 'is not valid JSON', 1, 7],
    ['{} {}', 'is not valid JSON', 1, 4],
    ['<html>', 'is not valid JSON', 1, 1],
  ])('%j', (text, reason, line, column) => {
    const error = failureOf(text)
    expect(error).toMatchObject({ path: '', reason, line, column })
    expect(error.message).toBe(`${reason} at line ${line}, column ${column}`)
  })

  test('is refused if and only if JSON.parse refuses it', () => {
    const soup = fc.array(
      fc.constantFrom(
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        '"',
        '"a"',
        '\\',
        '\\u00e9',
        'true',
        'nul',
        '-',
        '0',
        '12.5',
        'e',
        '+',
        ' ',
        '\n',
        '\t',
        'é',
      ),
      { maxLength: 12 },
    )
    fc.assert(
      fc.property(soup, (pieces) => {
        const text = pieces.join('')
        const end = findSyntaxError(text)
        if (isJson(text)) expect(end).toBe(text.length)
        else {
          expect(failureOf(text)).toBeInstanceOf(RecordError)
          // The text before the error can be the beginning of JSON; the text including the error cannot.
          if (end < text.length) expect(findSyntaxError(text.slice(0, end))).toBe(end)
        }
      }),
      { numRuns: 5000 },
    )
  })

  test('a truncated JSON text is incomplete, or is valid JSON', () => {
    fc.assert(
      fc.property(anyJson, fc.nat(), (value, at) => {
        const text = JSON.stringify(expected(value), (_, inner) => (typeof inner === 'bigint' ? String(inner) : inner))
        const cut = text.slice(0, at % (text.length + 1))
        expect(findSyntaxError(cut)).toBe(cut.length)
      }),
    )
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function failureOf(text: string): RecordError {
  try {
    parseLossless(text)
  } catch (error) {
    return error as RecordError
  }
  throw new Error('was read')
}
